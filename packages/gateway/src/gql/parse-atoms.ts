/** Parts that conditions and clauses share: property names, bindings, integers. */
import { parseInt64 } from './literals.ts'
import type { BindingSite } from './syntax.ts'
import type { TokenStream } from './token-stream.ts'
import { quote } from './tokens.ts'

/** A property: names joined by points, as one text. */
export function parseProperty(tokens: TokenStream, expected: string): string {
  let property = tokens.expectName(expected)
  while (tokens.acceptSymbol('.')) property += `.${tokens.expectName('a name after the point')}`
  return property
}

export function parseBinding(tokens: TokenStream): BindingSite {
  const token = tokens.take()
  if (!/^\d/.test(token.value)) return { type: 'binding', site: token.value }
  const number = Number(token.value)
  if (number === 0) throw tokens.errorAt(token, `found the binding "${token.text}", but bindings are numbered from @1`)
  return { type: 'binding', site: number }
}

export function parseInteger(tokens: TokenStream): bigint {
  const token = tokens.takeLiteral()
  const value = parseInt64(token.value)
  if (value === undefined)
    throw tokens.errorAt(token, `found the integer ${quote(token.text)}, which has more than 64 bits`)
  return value
}
