/**
 * A call in one line, for the log:
 *
 *   commit OK project=demo database=(default) kinds=ToDo keys=1 ms=0.42 rowsRead=2 rowsWritten=6 via=grpc
 *   lookup INVALID_ARGUMENT project=demo database=(default) ms=0.11 rowsRead=0 rowsWritten=0 via=json message="…"
 *
 * Values with blanks, quotes or control characters are JSON texts, so that a line stays a line and can be taken apart.
 */
import type { CallReport } from './calls.ts'

export function callLine({ method, protocol, code, message, facts, ...measured }: CallReport): string {
  const words = [`${method.charAt(0).toLowerCase()}${method.slice(1)}`, code]
  const add = (name: string, value: string | number): void => {
    words.push(`${name}=${plain(String(value))}`)
  }
  if (facts !== undefined) {
    add('project', facts.projectId)
    add('database', facts.databaseId || '(default)')
    const named = facts.named()
    const namespaces = [...new Set(named.map(({ namespaceId }) => namespaceId))].filter((name) => name !== '')
    if (namespaces.length > 0) add('namespaces', some(namespaces))
    const kinds = [...new Set(named.map(({ kind }) => kind))].filter((kind) => kind !== undefined)
    if (kinds.length > 0) add('kinds', some(kinds))
    if (!/query/i.test(method) && named.length > 0) add('keys', named.length)
  }
  add('ms', measured.durationMs.toFixed(2))
  add('rowsRead', measured.rowsRead)
  add('rowsWritten', measured.rowsWritten)
  add('via', protocol)
  if (message !== undefined) add('message', message)
  return words.join(' ')
}

/** A call may name hundreds. */
const namesMax = 5

function some(names: readonly string[]): string {
  const more = names.length - namesMax
  return names.slice(0, namesMax).join(',') + (more > 0 ? `,+${more}` : '')
}

function plain(value: string): string {
  return /^[^\s"\\\p{C}]+$/u.test(value) ? value : JSON.stringify(value)
}
