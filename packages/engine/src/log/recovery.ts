/**
 * Unapplied records of an earlier run, found by their pending markers alone: opening does not depend on the size of the store.
 *
 *   marker without record      the append never reached its commit point: the marker goes
 *   marker, prepared record    the decision row tells; without one it is decided abort, and record and marker go
 *   marker, committed record   acknowledged data: back among the pending records
 */
import { keyCodesOfPath } from '../encoding/key-codec.ts'
import type { Kv } from '../storage/kv.ts'
import { EntityRows, type IndexRules } from '../tables/entity-rows.ts'
import { type LogPosition, logRowKey, parseLogRowKey, pendingRange } from '../tables/log-rows.ts'
import type { Decisions } from './decisions.ts'
import { decodeLogRecord, type LogRecord } from './log-record.ts'
import type { PendingRecord } from './pending.ts'

/** Rebuilds what is to be applied for one record, from its images. */
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
  kv: Kv,
  decisions: Decisions,
  rulesOf: (database: string) => IndexRules,
): Promise<{ readonly records: readonly PendingRecord[]; readonly deciding: ReadonlyMap<bigint, number> }> {
  const records: PendingRecord[] = []
  const deciding = new Map<bigint, number>()
  const scan = kv.scan(pendingRange)
  try {
    for (;;) {
      const markers = await scan.next(256)
      if (markers.length === 0) break
      for (const { key } of markers) {
        const position = parseLogRowKey(key)
        const logRow = logRowKey(position.group, position.version)
        const value = await kv.get(logRow)
        if (value === undefined) {
          await kv.mutate({ key, value: undefined })
          continue
        }
        const record = decodeLogRecord(value)
        if (record.state === 'prepared') {
          if ((await decisions.outcome(position.version)) === 'aborted') {
            await kv.mutate({ key: logRow, value: undefined })
            await kv.mutate({ key, value: undefined })
            continue
          }
          deciding.set(position.version, (deciding.get(position.version) ?? 0) + 1)
        }
        records.push(pendingFromRecord(position, record, rulesOf(position.database), logRow.length + value.length))
      }
    }
  } finally {
    scan.close()
  }
  return { records, deciding }
}
