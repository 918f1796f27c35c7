/**
 * From the log to the tables, at a shared store: the rows of a record, each at the stamp of its commit.
 *
 * A deleted row gets an empty cell. An older cell never hides a newer one, so records may be applied in any order, repeatedly, late, and by every
 * process: if the record at 500 deletes a row and the one at 400 is applied after it, the row stays deleted.
 *
 * SA1  A settled record (sweep/SW2) is not applied again: its deletions may have been swept, and its old cells would restore deleted rows. The
 *      rows of a record that is older than ten minutes are sent within ten minutes of a read of the clock row in which it was not
 *      settled.                                                               sweep.test.ts, test/property/gateways.test.ts
 */
import { giveWay, stopwatch } from '@sixtables/engine'
import {
  codesOfEntityRow,
  EntityRows,
  entityRowKey,
  entityRowOf,
  type IndexRules,
  RecordWrites,
} from '@sixtables/engine/store'
import type { CellChange, RowChange, RowKey } from '../row-store/row-store.ts'
import { valueCell } from '../row-store/rows-kv.ts'
import { allInSlices } from './all-in-slices.ts'
import type { ClockRow } from './clock-row.ts'
import { latestOf } from './clock-state.ts'
import type { GroupRecord } from './group-row.ts'
import type { SharedStore } from './shared-store.ts'

/** Time for which a record is known not to be settled, after its stamp or a read of the clock row. */
export const unaskedMicros: bigint = 600_000_000n

/** A call takes so many rows or bytes; a commit of 20,000 entities has 220,000 rows. */
const rowsOfPart = 500
const bytesOfPart = 1024 * 1024
const partsAtOnce = 8

/** The changes of a record's entities, with their rows by some rules. */
function rowsOfRecord({ group, record }: GroupRecord, rules: IndexRules): readonly EntityRows[] {
  const { partition, path: rootPath } = codesOfEntityRow(entityRowOf(group))
  return record.changes.map(({ path, before, after }) => {
    const row = path === rootPath ? entityRowOf(group) : entityRowKey(partition, path)
    return new EntityRows({ codes: codesOfEntityRow(row), row, before, after }, rules)
  })
}

/** Writes the rows of a commit's records. The root's row was written when its record entered the log. */
export async function applyRecords(
  store: SharedStore,
  clock: ClockRow,
  records: readonly GroupRecord[],
): Promise<void> {
  const parts: RowChange[][] = []
  let rows: RowChange[] = []
  let bytes = 0
  const context = store.context()
  for (const record of records) {
    const rootRow = entityRowOf(record.group)
    const write = (key: RowKey, value: Uint8Array | undefined): void => {
      if (key === rootRow) return
      const at = store.isOff('cell-timestamps') ? 1n : record.stamp
      const change: CellChange = { type: 'set', family: 'v', at, value: valueCell(value) }
      if (rows.length === 0 || rows.length === rowsOfPart || bytes >= bytesOfPart) {
        rows = []
        bytes = 0
        parts.push(rows)
      }
      rows.push({ key, changes: [change] })
      bytes += value?.length ?? 0
    }
    // Always the indexes of the record's own epoch: others might be deleted already, and nothing would delete these rows.
    const epoch = store.isOff('index-epochs') ? clock.epoch : (record.record.epoch ?? 0)
    const rules = store.rulesOf(clock.database, epoch)
    const writes = new RecordWrites([], [{ changes: rowsOfRecord(record, rules) }], 'AB')
    for (const written of writes.writeTo({ write })) {
      const way = giveWay(context, written)
      if (way !== undefined) await way
    }
  }
  await allInSlices(
    context,
    parts,
    partsAtOnce,
    ({ length }) => length,
    (part) =>
      store.persistently(async () => {
        if (store.isOff('settled-check') || !(await isSettled(store, clock, records))) await store.rows.mutateRows(part)
      }),
  )
}

async function isSettled(
  { scheduler }: SharedStore,
  clock: ClockRow,
  records: readonly GroupRecord[],
): Promise<boolean> {
  const stamp = latestOf(0n, ...records.map((record) => record.stamp))
  for (let age = () => clock.now - stamp; age() > unaskedMicros; ) {
    age = stopwatch(scheduler)
    await clock.read()
    if (stamp <= clock.settled.at) return true
  }
  return false
}
