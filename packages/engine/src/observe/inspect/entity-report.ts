/** The tables with rows of an entity, in the order of a report, and a row in words. */
import { fromHex, hexOf } from '../../encoding/bytes.ts'
import { prettyRowKey } from '../../encoding/pretty.ts'
import { invalidArgument } from '../../errors.ts'
import type { Key } from '../../model/key.ts'
import type { RowKey } from '../../storage/kv.ts'
import { tableOfRow } from '../../tables/entity-rows.ts'
import { scatteredRowKey, sequentialRowKey } from '../../tables/id-sequences.ts'
import { isOf } from '../../tables/rows.ts'
import { tableIds } from '../../tables/table.ts'
import type { RowReport } from './reports.ts'
import { cellInWords } from './row-words.ts'

/** A row with its present state and its next one; `undefined` if there is neither. */
export function rowReport(
  row: RowKey,
  cell: Uint8Array | undefined,
  next: { readonly value: Uint8Array | undefined } | undefined,
  words: number | undefined,
): RowReport | undefined {
  const shown = cell ?? next?.value
  if (shown === undefined) return undefined
  let state: RowReport['state'] = 'stored'
  if (next !== undefined) {
    if (cell === undefined) state = 'to be written'
    else state = next.value === undefined ? 'to be deleted' : 'to be changed'
  }
  return {
    table: tableNameOf(row),
    row: prettyRowKey(row, shown),
    rowKey: hexOf(row),
    value: cellInWords(row, shown, words),
    state,
  }
}

/** The rows of the counters that a key's id may come from. */
export function idRowsOf(key: Key): readonly RowKey[] {
  const { projectId, databaseId } = key.partition
  return key.path.at(-1)?.id === undefined ? [] : [scatteredRowKey(projectId, databaseId), sequentialRowKey(key)]
}

const tableOrder: readonly string[] = [...tableIds, 'Pending']

/** The tables of a report from the row key `after` on, in hexadecimal. @throws INVALID_ARGUMENT */
export function tablesFrom(after: string | undefined): readonly { readonly table: string; readonly after: RowKey }[] {
  const tables = tableOrder.map((table) => ({ table, after: '' }))
  if (after === undefined) return tables
  if (!/^([0-9a-f]{2} ?)+$/i.test(after)) throw invalidArgument(`after is a row key in hexadecimal, not "${after}"`)
  const last = fromHex(after)
  const [first, ...others] = tables.slice(tableOrder.indexOf(tableNameOf(last)))
  return first === undefined ? [] : [{ ...first, after: last }, ...others]
}

export function tableNameOf(row: RowKey): string {
  return isOf('Pending', row) ? 'Pending' : tableOfRow(row)
}
