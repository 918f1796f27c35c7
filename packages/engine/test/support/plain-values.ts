/**
 * Values as literals, for table tests: 1n is an integer, 1 a double, an object an embedded entity.
 *
 *   propertiesOf({ n: 1n, tags: ['a', null], in: { x: excluded(2.5) } })
 */
import { decodeProperties, encodeProperties } from '../../src/encoding/entity-codec.ts'
import type { Properties, Value } from '../../src/model/value.ts'
import { plainValue } from '../../src/testing/query-world.ts'

export type Plain =
  | null
  | boolean
  | bigint
  | number
  | string
  | Annotated
  | readonly Plain[]
  | { readonly [name: string]: Plain }

/** A value without a literal, or with flags. */
class Annotated {
  readonly value: Value

  constructor(value: Value) {
    this.value = value
  }
}

/** Wraps a value that has no literal. */
export function literal(value: Value): Plain {
  return new Annotated(value)
}

export function excluded(plain: Plain): Plain {
  return new Annotated({ ...toValue(plain), excludeFromIndexes: true })
}

export function withMeaning(meaning: number, plain: Plain): Plain {
  return new Annotated({ ...toValue(plain), meaning })
}

export function toValue(plain: Plain): Value {
  if (plain instanceof Annotated) return plain.value
  if (plain === null || typeof plain !== 'object') return plainValue(plain)
  if (isList(plain)) return { type: 'array', values: plain.map(toValue) }
  return { type: 'entity', properties: propertiesOf(plain) }
}

function isList(plain: object): plain is readonly Plain[] {
  return Array.isArray(plain)
}

export function propertiesOf(plain: { readonly [name: string]: Plain }): Properties {
  return new Map(Object.entries(plain).map(([name, value]) => [name, toValue(value)]))
}

/** The serialized `properties` fields of an Entity. */
export function propertyBytes(plain: { readonly [name: string]: Plain }): Uint8Array {
  return encodeProperties(propertiesOf(plain))
}

/** Decoded property bytes in the form of {@link comparable}. */
export function readBack(properties: Uint8Array): Record<string, unknown> {
  return comparable(decodeProperties(properties))
}

/** Properties as objects, which `toEqual` compares without regard to order. */
export function comparable(properties: Properties): Record<string, unknown> {
  return Object.fromEntries([...properties].map(([name, value]) => [name, comparableValue(value)]))
}

/** {@link comparable} for one value. */
export function comparableValue(value: Value): unknown {
  if (value.type === 'entity') return { ...value, properties: comparable(value.properties) }
  if (value.type === 'array') return { ...value, values: value.values.map(comparableValue) }
  return value
}
