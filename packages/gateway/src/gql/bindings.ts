/**
 * The values and cursors for the binding sites of a GQL query: `WHERE done = @done LIMIT @1`.
 *
 * Each site must have its parameter, and each numbered parameter its site. Named parameters may be unused.
 *
 * Known: names match [A-Za-z_$][A-Za-z_$0-9]*, and not __.*__ (the API's description of GqlQuery). Measured: the refusals.
 */
import { invalidArgument } from '@sixtables/engine'
import type { GqlQueryParameter, GqlQuery as WireGqlQuery } from '#gen/wire.js'
import { printSite } from './print.ts'
import type { BindingSite } from './syntax.ts'
import { quote } from './tokens.ts'

/** An encoded value, or a cursor. */
export type Parameter =
  | { readonly type: 'value'; readonly value: Uint8Array }
  | { readonly type: 'cursor'; readonly cursor: Uint8Array }

/** Maximum number of bindings listed in a message. */
const shownMax = 20

export class Bindings {
  readonly #named: Readonly<Record<string, GqlQueryParameter>>
  readonly #positional: readonly GqlQueryParameter[]
  readonly #used = new Set<number>()

  /** @throws INVALID_ARGUMENT for impossible names and for empty parameters */
  constructor({ namedBindings, positionalBindings }: WireGqlQuery) {
    this.#named = namedBindings
    this.#positional = positionalBindings
    for (const [name, parameter] of Object.entries(namedBindings)) {
      checkName(name)
      parameterOf(parameter, `@${name}`)
    }
    for (const [i, parameter] of positionalBindings.entries()) parameterOf(parameter, `@${i + 1}`)
  }
  get(site: BindingSite): Parameter {
    const parameter =
      typeof site.site === 'number'
        ? this.#positional[site.site - 1]
        : Object.hasOwn(this.#named, site.site)
          ? this.#named[site.site]
          : undefined
    if (parameter === undefined) {
      throw invalidArgument(
        `GQL: ${printSite(site)} is not bound; the query is given ${this.#words()}`,
        `Absent ${typeof site.site === 'number' ? 'positional' : 'named'} binding: ${site.site}.`,
      )
    }
    if (typeof site.site === 'number') this.#used.add(site.site)
    return parameterOf(parameter, printSite(site))
  }

  /** Called after the whole query is bound. */
  checkAllUsed(): void {
    for (let number = 1; number <= this.#positional.length; number++) {
      if (!this.#used.has(number)) {
        throw invalidArgument(
          `GQL: the positional binding ${number} is not used: write @${number} or leave it out`,
          `Unused positional binding: ${number}.`,
        )
      }
    }
  }

  #words(): string {
    const names = [...Object.keys(this.#named), ...this.#positional.keys()].map((name) =>
      typeof name === 'number' ? `@${name + 1}` : `@${name}`,
    )
    if (names.length === 0) return 'no bindings'
    const shown = names.slice(0, shownMax).join(', ')
    return names.length > shownMax ? `${shown} and ${names.length - shownMax} more` : shown
  }
}

function parameterOf({ value, cursor }: GqlQueryParameter, site: string): Parameter {
  if (value !== null) return { type: 'value', value }
  if (cursor !== null) return { type: 'cursor', cursor }
  throw invalidArgument(`GQL: the parameter ${site} holds neither a value nor a cursor`)
}

function checkName(name: string): void {
  if (name === '') throw invalidArgument('GQL: a named binding has an empty name')
  if (/^\d/.test(name))
    throw invalidArgument(
      `GQL: the binding name ${quote(name)} starts with a digit`,
      `GQL query parameter name ${quote(name)} starts with a digit.`,
    )
  if (!/^[A-Za-z_$][A-Za-z_$0-9]*$/.test(name)) {
    throw invalidArgument(`GQL: the binding name ${quote(name)} may hold letters, digits, _ and $ only`)
  }
  if (/^__.*__$/.test(name))
    throw invalidArgument(
      `GQL: the binding name ${quote(name)} is reserved`,
      `The GQL query parameter name ${quote(name)} is reserved.`,
    )
}
