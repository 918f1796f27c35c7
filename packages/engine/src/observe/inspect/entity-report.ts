/** The rows of an entity, in the order of a report, and one of them in words. */
import { fromHex, hexOf } from '../../encoding/bytes.ts'
import { prettyRowKey } from '../../encoding/pretty.ts'
import { invalidArgument } from '../../errors.ts'
import { scatteredRowKey, sequentialRowKey } from '../../ids/id-scope.ts'
import type { EntityChange } from '../../log/log-record.ts'
import { type Key, lastElement } from '../../model/key.ts'
import type { RowKey } from '../../storage/kv.ts'
import { tableOfRow } from '../../tables/entity-rows.ts'
import { isOf } from '../../tables/rows.ts'
import { tableIds } from '../../tables/table.ts'
import type { RowReport } from './reports.ts'
import { cellInWords } from './row-words.ts'

/** The images of one entity among the changes, before and after. */
export function imagesOf(changes: readonly EntityChange[], path: string): (Uint8Array | undefined)[] {
  return changes.filter((change) => change.path === path).flatMap(({ before, after }) => [before, after])
}

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
  return lastElement(key).id === undefined ? [] : [scatteredRowKey(projectId, databaseId), sequentialRowKey(key)]
}

const tableOrder: readonly string[] = [...tableIds, 'Pending']

/** The rows after `after`, table by table, each in row key order. @throws INVALID_ARGUMENT */
export function rowsBehind(rows: Iterable<RowKey>, after: string | undefined): readonly RowKey[] {
  const tables = tableOrder.map((): RowKey[] => [])
  for (const row of rows) tables[tableOrder.indexOf(tableNameOf(row))]?.push(row)
  const all = tables.flatMap((own) => own.sort())
  if (after === undefined) return all
  if (!/^([0-9a-f]{2} ?)+$/i.test(after)) throw invalidArgument(`after is a row key in hexadecimal, not "${after}"`)
  const last = fromHex(after)
  const table = tableOrder.indexOf(tableNameOf(last))
  return all.filter((row) => {
    const own = tableOrder.indexOf(tableNameOf(row))
    return own > table || (own === table && row > last)
  })
}

function tableNameOf(row: RowKey): string {
  return isOf('Pending', row) ? 'Pending' : tableOfRow(row)
}
