/**
 * EntitiesByPropertyAsc: one row for each distinct indexed value of each property of an entity, by ascending value.
 *
 *   A partition text(kind) text(property) value path   → one byte: the value's type, and whether the property has several
 *
 * T3  Rows of a kind and property are in the order of (value, key).   test/property/table-order.test.ts
 *
 * Known: app, kind, property, value and entity key in the row name. Ours: the type byte, because equal values of two types
 * share a row key.
 */
import { decodePartition, decodePath, skipPartition } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { decodeText, encodeText, skipText } from '../encoding/ordered.ts'
import { skipValue } from '../encoding/value-codec.ts'
import { invariant } from '../invariant.ts'
import type { Key } from '../model/key.ts'
import type { RowKey } from '../storage/kv.ts'

export interface PropertyRow {
  readonly key: Key
  readonly property: string
  /** In ascending form, for rows of both property tables. */
  readonly valueCode: string
}

/** Prefix of the rows of a kind; the text of a property follows. */
export function propertyAscHead(partitionCode: string, kindCode: string): RowKey {
  return keySpaces.EntitiesByPropertyAsc + partitionCode + kindCode
}

/** Prefix of the rows of a kind and property; a value code and a path code follow. */
export function propertyAscPrefix(partitionCode: string, kind: string, property: string): RowKey {
  return propertyAscHead(partitionCode, encodeText(kind)) + encodeText(property)
}

export function propertyAscRowKey(prefix: RowKey, valueCode: string, pathCode: string): RowKey {
  return prefix + valueCode + pathCode
}

/** Cuts a row into the code of partition, kind and property, and the value code. */
export function splitPropertyAscRow(rowKey: RowKey): { readonly property: string; readonly valueCode: string } {
  const valueAt = skipText(rowKey, skipText(rowKey, skipPartition(rowKey, 1)))
  return { property: rowKey.slice(1, valueAt), valueCode: rowKey.slice(valueAt, skipValue(rowKey, valueAt)) }
}

/** Decodes the property code of {@link splitPropertyAscRow}. */
export function parsePropertyCode(code: string): {
  readonly partition: string
  readonly kind: string
  readonly property: string
} {
  const partitionEnd = skipPartition(code, 0)
  const kind = decodeText(code, partitionEnd)
  return { partition: code.slice(0, partitionEnd), kind: kind.value, property: decodeText(code, kind.next).value }
}

/** Throws InvariantError for rows of other tables. */
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
