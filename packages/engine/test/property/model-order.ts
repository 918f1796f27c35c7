/**
 * The order of keys and values as a plain model, with which tests compare the order of codes: ToDo:2 is before ToDo:10, 3 before "a",
 * and "a" equals the blob 61. The engine itself compares codes only.
 */
import type { Key, PartitionId, PathElement } from '../../src/model/key.ts'
import {
  type BlobValue,
  type BooleanValue,
  type DoubleValue,
  type EntityValue,
  type GeoPointValue,
  type IndexableValue,
  type IntegerValue,
  type KeyValue,
  type StringValue,
  type TimestampValue,
  userSortFields,
} from '../../src/model/value.ts'

/**
 * Order of two strings by their UTF-8 bytes, without encoding them. UTF-16 code units give the same order, except that
 * surrogates (U+D800–DFFF), which encode code points above U+FFFF, must sort after U+E000–FFFF.
 */
export function compareUtf8(a: string, b: string): number {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    let x = a.charCodeAt(i)
    let y = b.charCodeAt(i)
    if (x !== y) {
      if (x >= 0xd800 && y >= 0xd800) {
        x = x >= 0xe000 ? x - 0x800 : x + 0x2000
        y = y >= 0xe000 ? y - 0x800 : y + 0x2000
      }
      return x - y
    }
  }
  return a.length - b.length
}

/** Order of two byte strings: unsigned, a prefix first. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const difference = (a[i] as number) - (b[i] as number)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

export function comparePartitions(a: PartitionId, b: PartitionId): number {
  return (
    compareUtf8(a.projectId, b.projectId) ||
    compareUtf8(a.databaseId, b.databaseId) ||
    compareUtf8(a.namespaceId, b.namespaceId)
  )
}

function compareElements(a: PathElement, b: PathElement): number {
  const byKind = compareUtf8(a.kind, b.kind)
  if (byKind !== 0) return byKind
  if (a.id !== undefined && b.id !== undefined) return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
  if (a.id !== undefined) return -1
  if (b.id !== undefined) return 1
  return compareUtf8(a.name ?? '', b.name ?? '')
}

/** Negative, zero or positive if `a` sorts before, with or after `b`. */
export function compareKeys(a: Key, b: Key): number {
  const byPartition = comparePartitions(a.partition, b.partition)
  if (byPartition !== 0) return byPartition
  const shared = Math.min(a.path.length, b.path.length)
  for (let i = 0; i < shared; i++) {
    const byElement = compareElements(a.path[i] as PathElement, b.path[i] as PathElement)
    if (byElement !== 0) return byElement
  }
  return a.path.length - b.path.length
}

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
