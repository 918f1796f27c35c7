/**
 * Operations on rows of any table, for the layers above; the layout of each is in the table's own file.
 *
 * A code is what follows the table in a row key: of a database, of a partition, of an entity group. The rows of a table under a
 * code are one range.
 */
import { type KeySpace, keySpaceOf, keySpaces } from '../encoding/keyspace.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'
import { prefixRange } from './ranges.ts'

/** A table, or the pending markers of the log. */
export type { KeySpace }

export const everySpace: readonly KeySpace[] = Object.keys(keySpaces) as KeySpace[]

/** The rows of a table, or those of them under a code. */
export function rowsOf(space: KeySpace, code = ''): KeyRange {
  return prefixRange(keySpaces[space] + code)
}

/** Whether a row key, or what several begin with, is of a table. */
export function isOf(space: KeySpace, row: RowKey): boolean {
  return row.startsWith(keySpaces[space])
}

/** The key space of a row key; `undefined` if there is none. */
export const spaceOf: (row: RowKey) => KeySpace | undefined = keySpaceOf

/** The rest of a row key after its table. It begins with the code of a database, in most tables with that of a partition. */
export function codeOfRow(row: RowKey): string {
  return row.slice(1)
}
