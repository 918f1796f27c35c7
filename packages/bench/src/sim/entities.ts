/** Entities from plain values, encoded as google.datastore.v1.Entity for the commit verb. */

import {
  encodeKey,
  encodeProperties,
  type Filter,
  type Key,
  type Mutation,
  type PropertyOperator,
  type PropertyOrder,
  type Value,
} from '@sixtables/engine'
import { WireWriter } from '@sixtables/engine/testing'

/** `undefined` properties are left out. */
export type Fields = Readonly<Record<string, Value>>

export const text = (value: string): Value => ({ type: 'string', value })
export const integer = (value: number | bigint): Value => ({ type: 'integer', value: BigInt(value) })
export const timestamp = (micros: bigint): Value => ({ type: 'timestamp', micros })
export const texts = (values: readonly string[]): readonly Value[] => values.map((value) => unindexed(text(value)))
export const array = (values: readonly Value[]): Value => ({ type: 'array', values })
export const unindexed = (value: Value): Value => ({ ...value, excludeFromIndexes: true })

export const ascending = (property: string): PropertyOrder => ({ property, direction: 'ascending' })
export const descending = (property: string): PropertyOrder => ({ property, direction: 'descending' })

/** By the name of a property; a leading hyphen means descending. */
export const orderOf = (words: string): PropertyOrder =>
  words.startsWith('-') ? descending(words.slice(1)) : ascending(words)

export function where(property: string, operator: PropertyOperator, value: Value): Filter {
  return { type: 'property', property, operator, value }
}

/** A filter by the key of an entity. */
export function whereKey(operator: PropertyOperator, key: Key): Filter {
  return where('__key__', operator, { type: 'key', key })
}

export function allOf(...filters: readonly Filter[]): Filter {
  return { type: 'composite', operator: 'and', filters }
}

export function entityBytes(key: Key, fields: Fields): Uint8Array {
  const keyBytes = encodeKey(key)
  return Buffer.concat([lengthDelimited(keyField, keyBytes), encodeProperties(new Map(Object.entries(fields)))])
}

export function upsert(key: Key, fields: Fields): Mutation {
  return { operation: 'upsert', entity: entityBytes(key, fields) }
}

export function insert(key: Key, fields: Fields): Mutation {
  return { operation: 'insert', entity: entityBytes(key, fields) }
}

const keyField = 1

/** A length-delimited field of a protocol buffer message. */
export function lengthDelimited(field: number, bytes: Uint8Array): Uint8Array {
  const writer = new WireWriter()
  writer.bytes(field, bytes)
  return writer.finish()
}

/** A varint field of a protocol buffer message. */
export function varintField(field: number, value: number): Uint8Array {
  const writer = new WireWriter()
  writer.uint32(field, value)
  return writer.finish()
}
