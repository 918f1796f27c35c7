/**
 * Deletion of whole ranges of rows at a shared store, as one commit of a database at one stamp: each row gets an empty cell there.
 *
 * No gateway gives stamps or reads in the database meanwhile (closed-databases.ts), so the whole deletion happens at that moment. The empty cell
 * hides a row that an earlier commit writes late. A group's head gets the stamp too, so that appends that still
 * arrive fail, and transactions that have read the group are refused. The rows of composite indexes are computed from their entities and deleted,
 * found or not: the build of an index may still write them, below the stamp.                 test/property/gateways.test.ts
 */
import { codesOfEntityRow, handRows, type IndexRules, isOf, type KeyRange, type RowKey } from '@sixtables/engine/store'
import { isKnownDone, newestIs, type Row, type RowChange } from '../row-store/row-store.ts'
import { valueInCell } from '../row-store/rows-kv.ts'
import { latestOf } from './clock-state.ts'
import { decodeHead, encodeHead } from './group-row.ts'
import type { SharedStore } from './shared-store.ts'

const pageRows = 1_000
const headsAtOnce = 64

/**
 * Deletes the rows of a range at a stamp; every commit at or below it must be resolved.
 *
 * @param rules - the index rules of the database, if entities are deleted
 */
export async function deleteAt(store: SharedStore, range: KeyRange, stamp: bigint, rules?: IndexRules): Promise<void> {
  for (let { start } = range; ; ) {
    const rows = await store.rows.scanRows({
      range: { start, end: range.end },
      limit: pageRows,
      wanted: [
        { family: 'v', newest: 1 },
        { family: 'h', newest: 1 },
      ],
    })
    // Before their entities, so that another process that finishes the deletion finds the entities again.
    if (rules !== undefined && isOf('Entities', start)) {
      await store.rows.mutateRows(compositeRowsOf(rows, rules, stamp))
    }
    const plain = rows.filter(({ cells }) => cells.h === undefined && (cells.v?.[0]?.value.length ?? 0) > 0)
    await store.rows.mutateRows(plain.map(({ key }): RowChange => ({ key, changes: [emptyAt(stamp)] })))
    const groups = rows.filter(({ cells }) => cells.h !== undefined)
    for (let at = 0; at < groups.length; at += headsAtOnce) {
      await Promise.all(groups.slice(at, at + headsAtOnce).map((row) => deleteRoot(store, row, stamp)))
    }
    const last = rows.at(-1)?.key
    if (last === undefined || rows.length < pageRows) return
    start = `${last}\x00`
  }
}

/** Empty cells for the rows of entities in composite indexes. */
function compositeRowsOf(entities: readonly Row[], rules: IndexRules, stamp: bigint): readonly RowChange[] {
  const rows: RowChange[] = []
  const sink = {
    wants: (prefix: RowKey): boolean => isOf('EntitiesByCompositeProperty', prefix),
    write: (key: RowKey): void => {
      rows.push({ key, changes: [emptyAt(stamp)] })
    },
  }
  for (const { key, cells } of entities) {
    const before = valueInCell(cells.v?.[0])
    if (before !== undefined) handRows({ codes: codesOfEntityRow(key), before, after: undefined }, rules, sink)
  }
  return rows
}

async function deleteRoot(store: SharedStore, found: Row, stamp: bigint): Promise<void> {
  for (let row: Row | undefined = found; ; ) {
    const seen = row?.cells.h?.[0]?.value
    if (seen === undefined) return
    const head = decodeHead(seen)
    if (head.version >= stamp) return
    const value = encodeHead({ ...head, n: head.n + 1n, version: stamp, floor: latestOf(head.floor, stamp) })
    const changes = [{ type: 'set', family: 'h', at: 0n, value } as const, emptyAt(stamp)]
    if (await isKnownDone(store.rows.mutateRowIf(found.key, newestIs('h', seen), changes))) return
    row = (await store.rows.readRows([found.key], [{ family: 'h', newest: 1 }])).get(found.key)
  }
}

function emptyAt(stamp: bigint) {
  return { type: 'set', family: 'v', at: stamp, value: new Uint8Array(0) } as const
}
