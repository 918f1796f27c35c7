/** Mutations of one entity, by default `K:"c"`, on a store that is a plain map; for tests of their rules. */

import { systemScheduler } from '../../src/clock.ts'
import { requestContext } from '../../src/context.ts'
import type { Mutation } from '../../src/database/api.ts'
import { prepareMutation } from '../../src/database/prepare-commit.ts'
import { encodeKey } from '../../src/encoding/entity-codec.ts'
import { WireWriter } from '../../src/encoding/wire.ts'
import { DatastoreError } from '../../src/errors.ts'
import type { Key } from '../../src/model/key.ts'
import { decodeImage } from '../../src/tables/entities.ts'
import { atOnce } from '../../src/testing/at-once.ts'
import {
  type Evaluated,
  evaluateMutations,
  type MutationOutcome,
  type Operation,
} from '../../src/transactions/mutations.ts'
import { type Plain, propertyBytes, readBack } from './plain-values.ts'

export type Properties = { readonly [name: string]: Plain }
export type Mode = 'firestore' | 'legacy'

const database = { projectId: 'p', databaseId: '' }
const partition = { ...database, namespaceId: '' }
export const keyOf = (name: string): Key => ({ partition, path: [{ kind: 'K', name }] })
const entityBytes = (key: Key, properties: Properties): Uint8Array => {
  const writer = new WireWriter()
  writer.bytes(1, encodeKey(key))
  writer.raw(propertyBytes(properties))
  return writer.finish()
}

export type Extras = Partial<Pick<Mutation & { operation: 'upsert' }, 'conflict' | 'propertyMask' | 'transforms'>>

export function mutation(
  operation: Operation,
  properties: Properties = {},
  extras: Extras = {},
  key: Key = keyOf('c'),
): Mutation {
  if (operation === 'delete') return { operation, key, ...(extras.conflict ? { conflict: extras.conflict } : {}) }
  return { operation, entity: entityBytes(key, properties), ...extras }
}

/** A store of entities; each commit gets the next version, from 1. */
export class World {
  readonly #cells = new Map<string, Uint8Array>()
  readonly #mode: Mode
  #version = 0n
  reads: number = 0

  constructor(mode: Mode = 'firestore') {
    this.#mode = mode
  }

  evaluate(mutations: readonly Mutation[], atomic: boolean = true): Evaluated {
    this.#version++
    const evaluated = atOnce(
      evaluateMutations(
        mutations.map((one) => prepareMutation(one, database, {})),
        {
          context: requestContext({ clock: systemScheduler }),
          atomic,
          pairs: this.#mode === 'firestore' ? 'refused' : 'sequential',
          indexOptions: {},
          nextKey: (key) => ({ ...key, path: [{ kind: 'K', name: 'next' }] }),
        },
        ({ partition, path }) => {
          this.reads++
          return this.#cells.get(partition + path)
        },
        this.#version,
      ),
    )
    for (const { codes, after } of evaluated.states) {
      const code = codes.partition + codes.path
      if (after === undefined) this.#cells.delete(code)
      else this.#cells.set(code, after)
    }
    return evaluated
  }

  commit(...mutations: Mutation[]): readonly MutationOutcome[] {
    return this.evaluate(mutations).outcomes
  }

  /** The answer of `commit`, or the code of its error. */
  codeOf(...mutations: Mutation[]): string {
    try {
      this.commit(...mutations)
      return 'ok'
    } catch (error) {
      if (error instanceof DatastoreError) return error.code
      throw error
    }
  }

  entity(): unknown {
    const [cell] = this.#cells.values()
    return cell === undefined ? undefined : readBack(decodeImage(cell).properties)
  }
}

export function worldWith(stored: Properties | undefined, mode: Mode = 'firestore'): World {
  const world = new World(mode)
  if (stored !== undefined) world.commit(mutation('upsert', stored))
  return world
}

export const said = (properties: Properties | undefined): unknown =>
  properties === undefined ? undefined : readBack(propertyBytes(properties))
