/** `sixtables check`: whether entities, index rows, log and markers are consistent. */
import type { CheckReport } from '@sixtables/engine'
import type { Flags, Io } from '../framework/command.ts'
import { exitCodes, OperationError, thrownAs, UsageError } from '../framework/errors.ts'
import { counted, printed } from '../framework/print.ts'
import { ask } from '../target/ask.ts'
import { withTarget } from '../target/target.ts'

const progressMs = 5000

/** Exit code 1 for faults that were found and not repaired; 2 if the check could not run. */
export async function check(flags: Flags, io: Io): Promise<number> {
  const repair = flags['repair'] === true
  const query = repair ? { repair: 'true' } : {}
  const question = { method: 'POST', path: '/emulator/inspect/check', query, onProgress: progressTo(io) } as const
  const asked = withTarget(flags, io, (target) => ask<CheckReport>(target, question))
  const report = await asked.catch(thrownAs(UsageError, OperationError))
  printed(flags, io, report, () => checkInWords(report, repair))
  return report.problemCount > report.repaired ? exitCodes.failed : exitCodes.ok
}

function progressTo(io: Io): (rows: number) => void {
  let saidAt = io.now()
  return (rows) => {
    if (io.now() - saidAt < progressMs) return
    saidAt = io.now()
    io.err(`sixtables: looked at ${counted(rows, 'row')} so far`)
  }
}

export function checkInWords(report: CheckReport, repair: boolean): readonly string[] {
  const { pending, problems, problemCount, repaired } = report
  const lines = [
    `Looked at ${counted(report.entities, 'entity', 'entities')}, ${counted(report.indexRows, 'index row')} and ` +
      `${counted(report.logRecords, 'log record')}.`,
  ]
  for (const { group, records } of pending) {
    lines.push(`${counted(records, 'record')} of ${group} to be applied: no damage.`)
  }
  for (const { kind, row, detail } of problems) lines.push(`${kind}: ${row}: ${detail}`)
  if (problems.length < problemCount) lines.push(`… and ${problemCount - problems.length} more.`)
  if (problems.some(({ kind }) => kind === 'unreadable row')) {
    lines.push('Rows that cannot be read have to come back from a copy of the folder.')
  }
  if (problems.some(({ kind }) => kind === 'damaged file')) {
    lines.push(
      'Restore the folder from a copy: the next start refuses this one. What can still be read can be saved now by sixtables export.',
    )
  } else if (problemCount === 0) lines.push('All agree.')
  else if (repair) lines.push(`${counted(problemCount, 'problem')}, ${counted(repaired, 'row')} put right.`)
  else {
    const remedy = report.remedy ?? 'sixtables check --repair puts index rows right'
    lines.push(`${counted(problemCount, 'problem')}; ${remedy}.`)
  }
  return lines
}
