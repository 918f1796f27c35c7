/**
 * EntitiesByPropertyAsc and EntitiesByPropertyDesc: in each, one row for each distinct indexed value of each property of an entity.
 *
 *   A partition text(kind) text(property)  value path   → one byte: the value's type, and whether the property has several
 *   D partition text(kind) text(property) ~value path   → the same; ~ = every byte inverted
 *
 * ToDo:1 and ToDo:2 with priority 5, and ToDo:3 with 7, are in the order 5:1, 5:2, 7:3 in A, and 7:3, 5:1, 5:2 in D. Keys ascend in both,
 * so one order is not the reverse of the other (test/property/table-order.test.ts).
 *
 * Known: app, kind, property, value and entity key in the row name. Ours: the type byte, because equal values of two types
 * share a row key.
 */
import { skipPartition } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { encodeText, skipText } from '../encoding/ordered.ts'
import { RowReader } from '../encoding/row-reader.ts'
import { skipValue } from '../encoding/value-codec.ts'
import { invariant } from '../invariant.ts'
import type { Key } from '../model/key.ts'
import type { RowKey } from '../storage/kv.ts'

export type PropertyTable = 'EntitiesByPropertyAsc' | 'EntitiesByPropertyDesc'

export interface PropertyRow {
  readonly key: Key
  readonly property: string
  /** In ascending form, for rows of both tables. */
  readonly valueCode: string
}

/** Prefix of the rows of a kind; the text of a property follows. */
export function propertyHead(table: PropertyTable, partitionCode: string, kindCode: string): RowKey {
  return keySpaces[table] + partitionCode + kindCode
}

/** Prefix of the rows of a kind and property; a value code (inverted in D) and a path code follow. */
export function propertyPrefix(table: PropertyTable, partitionCode: string, kind: string, property: string): RowKey {
  return keySpaces[table] + partitionCode + encodeText(kind) + encodeText(property)
}

/** Cuts a row of A into the code of partition, kind and property, and the value code. */
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
  const parts = new RowReader(code, skipPartition(code, 0))
  return { partition: code.slice(0, parts.at), kind: parts.text(), property: parts.text() }
}

/** Throws InvariantError for rows of other tables. */
export function parsePropertyRowKey(rowKey: RowKey): PropertyRow {
  const isInverted = rowKey.startsWith(keySpaces.EntitiesByPropertyDesc)
  invariant(isInverted || rowKey.startsWith(keySpaces.EntitiesByPropertyAsc), 'not a row of a property table')
  const row = new RowReader(rowKey)
  const partition = row.partition()
  const kind = row.text()
  const property = row.text()
  const valueCode = row.value(isInverted)
  const path = row.lastPath()
  invariant(path[path.length - 1]?.kind === kind, 'the kind of the row is that of its path')
  return { key: { partition, path }, property, valueCode }
}
