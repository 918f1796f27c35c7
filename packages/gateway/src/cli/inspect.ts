/**
 * `sixtables inspect rows|log|pending|release`: what the store holds, in words or as JSON.
 */
import { exitCodes, UsageError } from './errors.ts'
import type { Io } from './io.ts'
import { columns, counted } from './print.ts'
import type { LogReport, PendingReport, ReleaseReport, RowsReport } from './reports.ts'
import type { Flags } from './settings.ts'
import { keyOf, withTarget } from './target.ts'

export function inspectRows(flags: Flags, io: Io): Promise<number> {
  const key = keyOf(flags, io)
  return answer(flags, io, (target) => target.rows(key), rowsInWords)
}

export function inspectLog(flags: Flags, io: Io): Promise<number> {
  const key = keyOf(flags, io)
  return answer(flags, io, (target) => target.log(key), logInWords)
}

export function inspectPending(flags: Flags, io: Io): Promise<number> {
  return answer(flags, io, (target) => target.pending(), pendingInWords)
}

export function inspectRelease(flags: Flags, io: Io): Promise<number> {
  const key = keyOf(flags, io)
  const milestone = flags['milestone'] ?? 'B'
  if (milestone !== 'A' && milestone !== 'B') {
    throw new UsageError(`--milestone is A or B; got "${milestone}"`)
  }
  return answer(flags, io, (target) => target.release(key, milestone), releaseInWords)
}

async function answer<Report>(
  flags: Flags,
  io: Io,
  ask: Parameters<typeof withTarget<Report>>[2],
  inWords: (report: Report) => readonly string[],
): Promise<number> {
  const report = await withTarget(flags, io, ask)
  if (flags['json'] === true) io.out(JSON.stringify(report, null, 2))
  else for (const line of inWords(report)) io.out(line)
  return exitCodes.ok
}

function rowsInWords({ key, rows }: RowsReport): readonly string[] {
  if (rows.length === 0) return [`${key} has no rows.`]
  return [`${key} has ${counted(rows.length, 'row')}:`, ...columns(rows.map((r) => [r.table, r.row, r.value]))]
}

function logInWords({ group, records }: LogReport): readonly string[] {
  if (records.length === 0) return [`The log of the group ${group} is empty.`]
  const lines = records.map((r) => [r.version, r.state, r.changes.join(', ')])
  return [`The log of the group ${group} holds ${counted(records.length, 'record')}:`, ...columns(lines)]
}

function pendingInWords({ pending }: PendingReport): readonly string[] {
  if (pending.length === 0) return ['Nothing waits: every commit is wholly applied.']
  const lines = pending.map((r) => [r.group, r.version, r.state, r.changes.join(', ')])
  return [`${counted(pending.length, 'record')} to be applied:`, ...columns(lines)]
}

function releaseInWords({ group, milestone, released }: ReleaseReport): readonly string[] {
  const upTo = milestone === 'A' ? 'milestone A, the entity row' : 'milestone B, entity and index rows'
  return [
    released === 0
      ? `Nothing was held back in the group ${group}.`
      : `Applied ${counted(released, 'record')} of the group ${group} up to ${upTo}.`,
  ]
}
