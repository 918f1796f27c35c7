/**
 * Recovery: finds the unapplied records of an earlier run by their pending markers alone, so that opening does not depend on
 * the size of the store. A marker and its record are written in one batch. A marker without a record is a loss: it
 * stays, and check/ reports it.
 */
import { keyCodesOfPath } from '../encoding/key-codec.ts'
import { type KvReader, rowsFrom } from '../storage/kv.ts'
import { EntityRows, type IndexRules } from '../tables/entity-rows.ts'
import { logRowKey, parseLogRowKey } from '../tables/log-rows.ts'
import { rowsOf } from '../tables/rows.ts'
import { decodeLogRecord } from './log-record.ts'
import type { PendingRecord } from './pending.ts'

/** The pending records of an earlier run, in version order within each group. */
export async function findPending(
  kv: KvReader,
  rulesOf: (database: string) => IndexRules,
): Promise<readonly PendingRecord[]> {
  const records: PendingRecord[] = []
  for await (const { key } of rowsFrom(kv.scan(rowsOf('Pending')), 256)) {
    const position = parseLogRowKey(key)
    const { group, partition, database, version } = position
    const logRow = logRowKey(group, version)
    const value = await kv.get(logRow)
    if (value === undefined) continue
    // Their rows follow from the images in the record.
    const changes = decodeLogRecord(value).changes.map(
      ({ path, before, after }) =>
        new EntityRows({ codes: keyCodesOfPath(partition, path), before, after }, rulesOf(database)),
    )
    const logBytes = logRow.length + value.length
    records.push({ ...position, logRow, logBytes, changes, milestone: 'committed' })
  }
  return records
}
