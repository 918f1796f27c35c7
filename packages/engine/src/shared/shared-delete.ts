/**
 * Deletion of whole ranges of rows at a shared store, as one commit of a database at one stamp: each row gets an empty cell there.
 *
 * No gateway stamps or reads in the database meanwhile (closed-databases.ts), so all of it happens at that moment. Cells stay until they are
 * swept; a row that an earlier commit writes late is hidden by the newer empty cell. A group's head gets the stamp too, so that appends on
 * their way fail, and transactions that have read the group are refused.
 */
import type { KeyRange } from '../storage/kv.ts'
import { newestIs, OutcomeUnknown, type Row, type RowChange } from '../storage/rows.ts'
import { latestOf } from './clock-row.ts'
import { decodeHead, encodeHead } from './group-row.ts'
import type { SharedStore } from './shared-store.ts'

const pageRows = 1_000
const headsAtOnce = 64

/** Deletes the rows of a range as of a stamp, at or below which nothing is under way. */
export async function deleteAt(store: SharedStore, range: KeyRange, stamp: bigint): Promise<void> {
  for (let { start } = range; ; ) {
    const rows = await store.rows.scanRows({
      range: { start, end: range.end },
      limit: pageRows,
      wanted: [
        { family: 'v', newest: 1 },
        { family: 'h', newest: 1 },
      ],
    })
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

async function deleteRoot(store: SharedStore, found: Row, stamp: bigint): Promise<void> {
  for (let row: Row | undefined = found; ; ) {
    const seen = row?.cells.h?.[0]?.value
    if (seen === undefined) return
    const head = decodeHead(seen)
    if (head.version >= stamp) return
    const value = encodeHead({ n: head.n + 1n, version: stamp, floor: latestOf(head.floor, stamp) })
    try {
      const changes = [{ type: 'set', family: 'h', at: 0n, value } as const, emptyAt(stamp)]
      if (await store.rows.mutateRowIf(found.key, newestIs('h', seen), changes)) return
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error
    }
    row = (await store.rows.readRows([found.key], [{ family: 'h', newest: 1 }])).get(found.key)
  }
}

function emptyAt(stamp: bigint) {
  return { type: 'set', family: 'v', at: stamp, value: new Uint8Array(0) } as const
}
