/**
 * Operations on rows of any table, for the layers above; each table's own file has its layout.
 *
 * A code is the start of a row key behind the table: of a database, a partition or an entity group. The rows of a table under
 * a code are one range.
 */
import { prefixEnd } from '../encoding/bytes.ts'
import { type KeySpace, keySpaceOf, keySpaces } from '../encoding/keyspace.ts'
import { earlier, later } from '../storage/areas.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'

export type { KeySpace }

export const everySpace: readonly KeySpace[] = Object.keys(keySpaces) as KeySpace[]

export function rowsOf(space: KeySpace, code = ''): KeyRange {
  return prefixRange(keySpaces[space] + code)
}

export function isOf(space: KeySpace, row: RowKey): boolean {
  return row.startsWith(keySpaces[space])
}

export const spaceOf: (row: RowKey) => KeySpace | undefined = keySpaceOf

/** A row key without its table. It begins with the code of a database, in most tables with that of a partition. */
export function codeOfRow(row: RowKey): string {
  return row.slice(1)
}

export function prefixRange(prefix: RowKey): KeyRange {
  return { start: prefix, end: prefixEnd(prefix) }
}

export function rangeOfRow(row: RowKey): KeyRange {
  return { start: row, end: rowAfter(row) }
}

export function overlap(...ranges: readonly KeyRange[]): KeyRange | undefined {
  const start = ranges.map((range) => range.start).reduce(later)
  const end = ranges.map((range) => range.end).reduce(earlier)
  return start < end ? { start, end } : undefined
}

/** The smallest row key after `rowKey`, where a scan continues behind that row. */
export function rowAfter(rowKey: RowKey): RowKey {
  return `${rowKey}\x00`
}
