/**
 * Recovery: finds the unapplied records of an earlier run by their pending markers alone, so that opening does not depend on
 * the size of the store. A marker and its record are written in one batch. A marker without a record is a loss: it
 * stays, and check/ reports it.
 */
import { keyCodesOfPath } from '../encoding/key-codec.ts'
import { type KvReader, rowsFrom } from '../storage/kv.ts'
import { EntityRows, type IndexRules } from '../tables/entity-rows.ts'
import { type LogPosition, logRowKey, parseLogRowKey, pendingRange } from '../tables/log-rows.ts'
import { decodeLogRecord, type LogRecord } from './log-record.ts'
import type { PendingRecord } from './pending.ts'

/** The pending record of a stored record, rebuilt from its images. */
export function pendingFromRecord(
  position: LogPosition,
  record: LogRecord,
  rules: IndexRules,
  logBytes: number,
): PendingRecord {
  const changes = record.changes.map(
    ({ path, before, after }) =>
      new EntityRows({ codes: keyCodesOfPath(position.partition, path), before, after }, rules),
  )
  return {
    ...position,
    logRow: logRowKey(position.group, position.version),
    logBytes,
    changes,
    milestone: 'committed',
  }
}

/** The pending records of an earlier run, in version order within each group. */
export async function findPending(
  kv: KvReader,
  rulesOf: (database: string) => IndexRules,
): Promise<readonly PendingRecord[]> {
  const records: PendingRecord[] = []
  for await (const { key } of rowsFrom(kv.scan(pendingRange), 256)) {
    const position = parseLogRowKey(key)
    const logRow = logRowKey(position.group, position.version)
    const value = await kv.get(logRow)
    if (value === undefined) continue
    const record = decodeLogRecord(value)
    records.push(pendingFromRecord(position, record, rulesOf(position.database), logRow.length + value.length))
  }
  return records
}
