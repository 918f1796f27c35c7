/**
 * EntitiesByPropertyAsc: one row for each distinct indexed value of each property of an entity, by rising value.
 *
 *   A partition text(kind) text(property) value path   → one byte: the value's type, and whether the property has several
 *
 * T3  Rows of a kind and property stand in the order of (value, key).   test/property/table-order.test.ts
 *
 * Known: app, kind, property, value and entity key in the row name. Ours: the type byte, because equal values of two types
 * share a row key.
 */
import type { IndexEntry } from '../encoding/index-entry.ts'
import { decodePartition, decodePath, type KeyCodes } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { decodeText, encodeText } from '../encoding/ordered.ts'
import { skipValue } from '../encoding/value-codec.ts'
import { invariant } from '../invariant.ts'
import type { Key } from '../model/key.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'
import { type Bound, boundedRange } from './ranges.ts'

/** A property row taken apart. */
export interface PropertyRow {
  readonly key: Key
  readonly property: string
  /** In ascending form, whichever table the row is of. */
  readonly valueCode: string
}

/** What a scan needs of a property row: codes, nothing decoded. */
export interface PropertyRowCodes {
  /** In ascending form, whichever table the row is of. */
  readonly valueCode: string
  readonly pathCode: string
}

/** What the rows of a kind and property start with; a value code and a path code follow. */
export function propertyAscPrefix(partitionCode: string, kind: string, property: string): RowKey {
  return keySpaces.EntitiesByPropertyAsc + partitionCode + encodeText(kind) + encodeText(property)
}

export function entitiesByPropertyAscRowKey(codes: KeyCodes, entry: IndexEntry): RowKey {
  return (
    keySpaces.EntitiesByPropertyAsc +
    codes.partition +
    codes.kind +
    encodeText(entry.property) +
    entry.valueCode +
    codes.path
  )
}

/** The rows of a prefix between two value codes, rising. */
export function propertyAscRange(prefix: RowKey, low?: Bound, high?: Bound): KeyRange {
  return boundedRange(prefix, low, high)
}

/** The rows of a prefix with one value; between two path codes, if asked. */
export function propertyAscValueRange(prefix: RowKey, valueCode: string, low?: Bound, high?: Bound): KeyRange {
  return boundedRange(prefix + valueCode, low, high)
}

/** Where the path code starts in a row with this length of {@link propertyAscPrefix}. */
export function propertyAscPathOffset(rowKey: RowKey, prefixLength: number): number {
  return skipValue(rowKey, prefixLength)
}

/** The codes of a row, from the length of its {@link propertyAscPrefix}. */
export function splitPropertyAscRowKey(rowKey: RowKey, prefixLength: number): PropertyRowCodes {
  const valueEnd = skipValue(rowKey, prefixLength)
  return { valueCode: rowKey.slice(prefixLength, valueEnd), pathCode: rowKey.slice(valueEnd) }
}

/** All that a row key says. Throws InvariantError for other rows. */
export function parseEntitiesByPropertyAscRowKey(rowKey: RowKey): PropertyRow {
  invariant(rowKey.startsWith(keySpaces.EntitiesByPropertyAsc), 'T3: not a row of EntitiesByPropertyAsc')
  const partition = decodePartition(rowKey, 1)
  const kind = decodeText(rowKey, partition.next)
  const property = decodeText(rowKey, kind.next)
  const valueEnd = skipValue(rowKey, property.next)
  const { path, next } = decodePath(rowKey, valueEnd)
  invariant(next === rowKey.length, 'T3: a property row goes on after its path')
  invariant(path[path.length - 1]?.kind === kind.value, 'T3: the kind of the row is that of its path')
  return {
    key: { partition: partition.value, path },
    property: property.value,
    valueCode: rowKey.slice(property.next, valueEnd),
  }
}
