/**
 * `sixtables check`: whether entities, index rows, log and markers tell the same story.
 */
import { exitCodes } from './errors.ts'
import type { Io } from './io.ts'
import { counted } from './print.ts'
import type { CheckReport } from './reports.ts'
import type { Flags } from './settings.ts'
import { withTarget } from './target.ts'

/** Exit code 1 when something is wrong and was not repaired. */
export async function check(flags: Flags, io: Io): Promise<number> {
  const report = await withTarget(flags, io, (target) => target.check({ repair: flags['repair'] === true }))
  if (flags['json'] === true) io.out(JSON.stringify(report, null, 2))
  else for (const line of checkInWords(report)) io.out(line)
  return report.findings.length > 0 && report.repaired === 0 ? exitCodes.failed : exitCodes.ok
}

function checkInWords({ looked, findings, pending, repaired }: CheckReport): readonly string[] {
  const lines = [`Looked at ${looked.join(', ')}.`]
  if (pending > 0)
    lines.push(`${counted(pending, 'record')} wait${pending === 1 ? 's' : ''} to be applied; that is no damage.`)
  for (const { problem, detail } of findings) lines.push(`${problem}: ${detail}`)
  lines.push(findings.length === 0 ? 'All agree.' : `${counted(findings.length, 'disagreement')} found.`)
  if (repaired > 0) lines.push(`Repaired: ${counted(repaired, 'row')} written or removed.`)
  else if (findings.length > 0) lines.push('sixtables check --repair writes the index rows anew from the entities.')
  return lines
}
