/** A database, and the calls that the page makes of it. */
import type { PendingRecordReport } from '@sixtables/engine'
import { pathPart } from '../../api/http.ts'

export interface Place {
  readonly project: string
  /** Empty = the default database. */
  readonly database: string
  readonly namespace: string
}

/** Records that are listed at once. */
export const recordsMax = 100

export function pendingPath({ project, database }: Place): string {
  const members = { project, database, limit: String(recordsMax), words: '200' }
  return `/emulator/inspect/pending?${new URLSearchParams(members)}`
}

export function settingsPath({ project, database }: Place): string {
  return `/emulator/v1/projects/${pathPart(project)}/databases/${pathPart(database || '(default)')}/settings`
}

/** @param record - absent: all records of the database */
export function releasePath(
  { project, database }: Place,
  record?: PendingRecordReport,
  milestone: 'A' | 'B' = 'B',
): string {
  const which =
    record === undefined ? {} : { namespace: record.namespace, key: record.group, milestone, version: record.version }
  return `/emulator/inspect/release?${new URLSearchParams({ project, database, ...which })}`
}
