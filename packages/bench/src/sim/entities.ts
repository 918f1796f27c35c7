/** Entities from plain values, encoded as google.datastore.v1.Entity for the commit verb. */

import {
  encodeKey,
  encodeProperties,
  type Filter,
  type Key,
  type Mutation,
  type PartitionId,
  type PropertyOperator,
  type PropertyOrder,
  type Query,
  type Value,
} from '@sixtables/engine'
import { bytesOf } from './messages.ts'

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

export function whereKey(operator: PropertyOperator, key: Key): Filter {
  return where('__key__', operator, { type: 'key', key })
}

export function allOf(...filters: readonly Filter[]): Filter {
  return { type: 'composite', operator: 'and', filters }
}

export function entityBytes(key: Key, fields: Fields): Uint8Array {
  return Buffer.concat([bytesOf({ 1: encodeKey(key) }), encodeProperties(new Map(Object.entries(fields)))])
}

export type Put = Exclude<Mutation, { operation: 'delete' }>

/** Conditions, mask and transforms of a put. */
type PutOptions = Omit<Put, 'operation' | 'entity'>

export function upsert(key: Key, fields: Fields, options?: PutOptions): Put {
  return { operation: 'upsert', entity: entityBytes(key, fields), ...options }
}

export function insert(key: Key, fields: Fields): Put {
  return { operation: 'insert', entity: entityBytes(key, fields) }
}

export function update(key: Key, fields: Fields, options?: PutOptions): Put {
  return { operation: 'update', entity: entityBytes(key, fields), ...options }
}

/** The version that must be stored, or else the commit is refused with FAILED_PRECONDITION; 0 = no entity is stored. */
export function ifVersion(baseVersion: bigint): Pick<Put, 'conflict'> {
  return { conflict: { baseVersion, resolution: 'fail' } }
}

/** A query of a kind for whole entities, without filter and order; `more` says what is different. */
export function queryOf(partition: PartitionId, kind: string | undefined, more: Partial<Query>): Query {
  return { partition, kind, projection: [], order: [], distinctOn: [], offset: 0, ...more }
}
