/**
 * A call as one line, for the log and for `sixtables requests`:
 *
 *   commit OK project=demo database=(default) kinds=ToDo keys=1 ms=0.42 rowsRead=2 rowsWritten=6 via=grpc
 *   lookup INVALID_ARGUMENT project=demo database=(default) ms=0.11 rowsRead=0 rowsWritten=0 via=json message="…"
 *
 * Values with spaces, quotes or control characters are printed as JSON, so that programs can parse the line.
 */
import type { CallSummary } from './call-summary.ts'

export function callLine(call: CallSummary): string {
  const words = [call.method, call.code]
  const add = (name: string, value: string | number | undefined): void => {
    if (value !== undefined) words.push(`${name}=${plain(String(value))}`)
  }
  if (call.project !== undefined) {
    add('project', call.project)
    add('database', call.database || '(default)')
    if (call.namespaces !== undefined) add('namespaces', some(call.namespaces))
    if (call.kinds !== undefined) add('kinds', some(call.kinds))
    add('keys', call.keys)
  }
  add('ms', call.ms.toFixed(2))
  add('rowsRead', call.rowsRead)
  add('rowsWritten', call.rowsWritten)
  add('via', call.protocol)
  add('transaction', call.transaction)
  for (const { ms, row, for: holders } of call.waits ?? [])
    add('waited', `${ms.toFixed(2)} ms for ${holders} at ${row}`)
  if (call.abortedBy !== undefined) add('abortedBy', call.abortedBy.join(','))
  add('message', call.message)
  return words.join(' ')
}

const namesMax = 5

function some(names: readonly string[]): string {
  const more = names.length - namesMax
  return names.slice(0, namesMax).join(',') + (more > 0 ? `,+${more}` : '')
}

function plain(value: string): string {
  return /^[^\s"\\\p{C}]+$/u.test(value) ? value : JSON.stringify(value)
}
