/**
 * Property values and their order across types.
 *
 * Order (measured on both of Google's emulators): null < int64 (integers and timestamps, as microseconds) < boolean < bytes
 * (strings and blobs) < double < geo point < user < key. Integers never equal doubles. -Infinity < … < -0.0 < 0.0 < … <
 * Infinity < NaN, and all NaNs are one value. String "a" equals blob "a"; timestamp 0 equals integer 0.
 */
import { compareBytes, compareUtf8 } from './compare.ts'
import { compareKeys, type Key } from './key.ts'

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

/** The position of a value's class in the order. Entities other than users have none and are not indexed. */
export function orderClass(value: IndexableValue): number {
  switch (value.type) {
    case 'null':
      return 0
    case 'integer':
    case 'timestamp':
      return 1
    case 'boolean':
      return 2
    case 'string':
    case 'blob':
      return 3
    case 'double':
      return 4
    case 'geoPoint':
      return 5
    case 'entity':
      return 6
    case 'key':
      return 7
  }
}

function compareNumbers(a: bigint | number, b: bigint | number): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Total order of doubles: -0.0 before 0.0, NaN last and equal to itself. */
export function compareDoubles(a: number, b: number): number {
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : 1
  if (Number.isNaN(b)) return -1
  if (a === 0 && b === 0) return (Object.is(a, -0) ? 0 : 1) - (Object.is(b, -0) ? 0 : 1)
  return compareNumbers(a, b)
}

const utf8 = new TextEncoder()

function int64Of(value: IntegerValue | TimestampValue): bigint {
  return value.type === 'integer' ? value.value : value.micros
}

function bytesOf(value: StringValue | BlobValue): Uint8Array {
  return value.type === 'string' ? utf8.encode(value.value) : value.value
}

/** The fields of a user value by which it sorts. */
const userFields = ['email', 'auth_domain', 'user_id', 'federated_identity', 'federated_provider'] as const

/** The sortable fields of a user value; missing ones are empty texts. Ours: the API leaves the order of users open. */
export function userSortFields(value: EntityValue): readonly string[] {
  return userFields.map((name) => {
    const field = value.properties.get(name)
    return field?.type === 'string' ? field.value : ''
  })
}

/** Negative, zero or positive if `a` sorts before, with or after `b` in an index. */
export function compareValues(a: IndexableValue, b: IndexableValue): number {
  const byClass = orderClass(a) - orderClass(b)
  if (byClass !== 0) return byClass
  switch (a.type) {
    case 'null':
      return 0
    case 'integer':
    case 'timestamp':
      return compareNumbers(int64Of(a), int64Of(b as IntegerValue | TimestampValue))
    case 'boolean':
      return Number(a.value) - Number((b as BooleanValue).value)
    case 'string':
      return b.type === 'string' ? compareUtf8(a.value, b.value) : compareBytes(bytesOf(a), bytesOf(b as BlobValue))
    case 'blob':
      return compareBytes(a.value, bytesOf(b as StringValue | BlobValue))
    case 'double':
      return compareDoubles(a.value, (b as DoubleValue).value)
    case 'geoPoint': {
      const other = b as GeoPointValue
      return compareDoubles(a.latitude, other.latitude) || compareDoubles(a.longitude, other.longitude)
    }
    case 'entity': {
      const theirs = userSortFields(b as EntityValue)
      for (const [i, field] of userSortFields(a).entries()) {
        const byField = compareUtf8(field, theirs[i] ?? '')
        if (byField !== 0) return byField
      }
      return 0
    }
    case 'key':
      return compareKeys(a.key, (b as KeyValue).key)
  }
}
