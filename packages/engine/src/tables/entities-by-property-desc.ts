/**
 * EntitiesByPropertyDesc: the rows of EntitiesByPropertyAsc by falling value; rows of one value still by rising key.
 *
 *   D partition text(kind) text(property) ~value path   → one byte, as in EntitiesByPropertyAsc
 *
 * T4  Rows of a kind and property stand in the order of (value, descending; key, ascending).   test/property/table-order.test.ts
 *
 * Known: same as ascending with the value in descending order. A falling order is not the reverse of a rising one, because
 * keys rise in both: hence a table of its own.
 */
import { invert } from '../encoding/bytes.ts'
import type { IndexEntry } from '../encoding/index-entry.ts'
import { decodePartition, decodePath, type KeyCodes } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { decodeText, encodeText } from '../encoding/ordered.ts'
import { skipInvertedValue } from '../encoding/value-codec.ts'
import { invariant } from '../invariant.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'
import type { PropertyRow, PropertyRowCodes } from './entities-by-property-asc.ts'
import { type Bound, boundedRange } from './ranges.ts'

/** What the rows of a kind and property start with; an inverted value code and a path code follow. */
export function propertyDescPrefix(partitionCode: string, kind: string, property: string): RowKey {
  return keySpaces.EntitiesByPropertyDesc + partitionCode + encodeText(kind) + encodeText(property)
}

export function entitiesByPropertyDescRowKey(codes: KeyCodes, entry: IndexEntry): RowKey {
  return (
    keySpaces.EntitiesByPropertyDesc +
    codes.partition +
    codes.kind +
    encodeText(entry.property) +
    invert(entry.valueCode) +
    codes.path
  )
}

/** The rows of a prefix between two value codes: `low` is the smaller value and so the later end. */
export function propertyDescRange(prefix: RowKey, low?: Bound, high?: Bound): KeyRange {
  return boundedRange(prefix, high && invertBound(high), low && invertBound(low))
}

/** The rows of a prefix with one value; between two path codes, if asked. */
export function propertyDescValueRange(prefix: RowKey, valueCode: string, low?: Bound, high?: Bound): KeyRange {
  return boundedRange(prefix + invert(valueCode), low, high)
}

/** Where the path code starts in a row with this length of {@link propertyDescPrefix}. */
export function propertyDescPathOffset(rowKey: RowKey, prefixLength: number): number {
  return skipInvertedValue(rowKey, prefixLength)
}

/** The codes of a row, from the length of its {@link propertyDescPrefix}. */
export function splitPropertyDescRowKey(rowKey: RowKey, prefixLength: number): PropertyRowCodes {
  const valueEnd = skipInvertedValue(rowKey, prefixLength)
  return { valueCode: invert(rowKey.slice(prefixLength, valueEnd)), pathCode: rowKey.slice(valueEnd) }
}

/** All that a row key says. Throws InvariantError for other rows. */
export function parseEntitiesByPropertyDescRowKey(rowKey: RowKey): PropertyRow {
  invariant(rowKey.startsWith(keySpaces.EntitiesByPropertyDesc), 'T4: not a row of EntitiesByPropertyDesc')
  const partition = decodePartition(rowKey, 1)
  const kind = decodeText(rowKey, partition.next)
  const property = decodeText(rowKey, kind.next)
  const valueEnd = skipInvertedValue(rowKey, property.next)
  const { path, next } = decodePath(rowKey, valueEnd)
  invariant(next === rowKey.length, 'T4: a property row goes on after its path')
  invariant(path[path.length - 1]?.kind === kind.value, 'T4: the kind of the row is that of its path')
  return {
    key: { partition: partition.value, path },
    property: property.value,
    valueCode: invert(rowKey.slice(property.next, valueEnd)),
  }
}

function invertBound(bound: Bound): Bound {
  return { code: invert(bound.code), inclusive: bound.inclusive }
}
