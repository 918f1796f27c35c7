/** Calls of the page about a database. */
import type { PendingRecordReport } from '@sixtables/engine'
import type { DatabaseName } from '../../model/scope.ts'

/** Records that are listed at once. */
const recordsMax = 100

export function pendingPath({ project, database }: DatabaseName): string {
  const members = { project, database, limit: String(recordsMax), words: '200' }
  return `/emulator/inspect/pending?${new URLSearchParams(members)}`
}

/** @param record - absent: all records of the database */
export function releasePath(
  { project, database }: DatabaseName,
  record?: PendingRecordReport,
  milestone: 'A' | 'B' = 'B',
): string {
  const which =
    record === undefined ? {} : { namespace: record.namespace, key: record.group, milestone, version: record.version }
  return `/emulator/inspect/release?${new URLSearchParams({ project, database, ...which })}`
}
