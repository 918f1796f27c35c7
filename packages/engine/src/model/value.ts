/**
 * Property values and their order across types.
 *
 * Order (measured on both of Google's emulators): null < int64 (integers and timestamps, as microseconds) < boolean < bytes
 * (strings and blobs) < double < geo point < user < key. Integers never equal doubles. -Infinity < … < -0.0 < 0.0 < … <
 * Infinity < NaN, and all NaNs are one value. String "a" equals blob "a"; timestamp 0 equals integer 0.
 */
import type { Key } from './key.ts'

interface Annotations {
  /** Datastore's `meaning`, when set. */
  readonly meaning?: number
  readonly excludeFromIndexes?: boolean
}

export type NullValue = Annotations & { readonly type: 'null' }
export type BooleanValue = Annotations & { readonly type: 'boolean'; readonly value: boolean }
export type IntegerValue = Annotations & { readonly type: 'integer'; readonly value: bigint }
/** `micros`: microseconds since the epoch. */
export type TimestampValue = Annotations & { readonly type: 'timestamp'; readonly micros: bigint }
export type DoubleValue = Annotations & { readonly type: 'double'; readonly value: number }
export type StringValue = Annotations & { readonly type: 'string'; readonly value: string }
export type BlobValue = Annotations & { readonly type: 'blob'; readonly value: Uint8Array }
export type GeoPointValue = Annotations & {
  readonly type: 'geoPoint'
  readonly latitude: number
  readonly longitude: number
}
export type KeyValue = Annotations & { readonly type: 'key'; readonly key: Key }
/** `key` is the embedded entity's key, if it has one. */
export type EntityValue = Annotations & { readonly type: 'entity'; readonly key?: Key; readonly properties: Properties }
export type ArrayValue = Annotations & { readonly type: 'array'; readonly values: readonly Value[] }

export type Value =
  | NullValue
  | BooleanValue
  | IntegerValue
  | TimestampValue
  | DoubleValue
  | StringValue
  | BlobValue
  | GeoPointValue
  | KeyValue
  | EntityValue
  | ArrayValue

/** Value types of index rows. The only indexed entity is a user value (meaning 20). */
export type IndexableValue = Exclude<Value, ArrayValue>

export type ValueType = Value['type']

export type Properties = ReadonlyMap<string, Value>

/** The meaning that makes an embedded entity a user value. Known: the Datastore API's value meanings. */
export const userMeaning = 20

/** The meaning that makes an array a vector: doubles, which are not indexed one by one. Known: the clients of the API. */
export const vectorMeaning = 31

/** The fields of a user value by which it sorts. */
export const userFields = ['email', 'auth_domain', 'user_id', 'federated_identity', 'federated_provider'] as const

/** The sortable fields of a user value; missing ones are empty texts. Ours: the API leaves the order of users open. */
export function userSortFields(value: EntityValue): readonly string[] {
  return userFields.map((name) => {
    const field = value.properties.get(name)
    return field?.type === 'string' ? field.value : ''
  })
}
