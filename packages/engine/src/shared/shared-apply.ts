/**
 * From the log to the tables, at a shared store: the rows of a record, each at the stamp of its commit.
 *
 * A deleted row gets an empty cell. So the order, the repetition and the lateness of applies do not matter: an older cell never hides a
 * newer one, and every process may apply every record (apply/A1 is not needed).
 *
 * SA1  A record that was applied by others and may have been swept since is not applied again: its old cells would bring deleted rows
 *      back. A process that stood still for an hour finds its commit out of the list.                test/property/gateways.test.ts
 */
import { RecordWrites } from '../log/record-writes.ts'
import type { CellChange, RowChange, RowKey } from '../storage/rows.ts'
import { valueCell } from '../storage/rows-kv.ts'
import { entityRowKey, entityRowOf } from '../tables/entities.ts'
import { codesOfEntityRow, EntityRows, type IndexRules } from '../tables/entity-rows.ts'
import type { ClockRow } from './clock-row.ts'
import type { GroupRecord } from './group-row.ts'
import { readableMicros, type SharedStore } from './shared-store.ts'

/** The changes of a record's entities, with their rows under some rules. */
function rowsOfRecord({ group, record }: GroupRecord, rules: IndexRules): readonly EntityRows[] {
  const { partition, path: rootPath } = codesOfEntityRow(entityRowOf(group))
  return record.changes.map(({ path, before, after }) => {
    const row = path === rootPath ? entityRowOf(group) : entityRowKey(partition, path)
    return new EntityRows({ codes: codesOfEntityRow(row), row, before, after }, rules)
  })
}

/** Writes the rows of the records of a commit. The root's row is there since its record entered the log. */
export async function applyRecords(
  store: SharedStore,
  clock: ClockRow,
  records: readonly GroupRecord[],
): Promise<void> {
  const rows: RowChange[] = []
  for (const record of records) {
    const rootRow = entityRowOf(record.group)
    const write = (key: RowKey, value: Uint8Array | undefined): void => {
      if (key === rootRow) return
      const at = store.isOff('cell-timestamps') ? 1n : record.stamp
      const change: CellChange = { type: 'set', family: 'v', at, value: valueCell(value) }
      rows.push({ key, changes: [change] })
    }
    // A record writes the indexes of its epoch, also when it is applied again later: or later records would leave rows of it behind.
    const rules = store.rulesOf(clock.database, record.record.epoch ?? 0)
    new RecordWrites([], [{ changes: rowsOfRecord(record, rules) }], 'AB').writeTo({ write })
  }
  if (rows.length === 0) return
  await store.persistently(async () => {
    if (!(await isApplied(store, clock, records))) await store.rows.mutateRows(rows)
  })
}

/** SA1: whether records too old to be under way still are in no list any more. */
async function isApplied(store: SharedStore, clock: ClockRow, records: readonly GroupRecord[]): Promise<boolean> {
  const oldest = store.scheduler.nowMicros() - readableMicros
  if (records.every(({ stamp }) => stamp > oldest)) return false
  const { listed } = await clock.read()
  return !records.some(({ record }) => listed.some(({ id }) => id === record.commit))
}
