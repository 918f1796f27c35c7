/** A call in a few plain words and figures, as the log, the list of requests and `sixtables requests` show it. Plain JSON. */
import { formatKeyPath, type Key, transactionIdOf } from '@sixtables/engine'
import { dataMethodOf } from '../methods.ts'
import type { CallFacts, TracedWait } from './call-facts.ts'
import type { CallReport, WireProtocol } from './calls.ts'
import { roundedMs } from './recording.ts'

export interface RequestWait {
  /** Milliseconds from the start of the call. */
  readonly afterMs: number
  readonly ms: number
  readonly row: string
  /** Ids of the transactions that the call waited for; `0` is a write outside of transactions. */
  readonly for: readonly string[]
}

export interface CallSummary {
  /** In lower camel case, such as `runQuery`. */
  readonly method: string
  readonly code: string
  readonly message?: string | undefined
  readonly protocol: WireProtocol
  /** Start time: RFC 3339 with microseconds. */
  readonly at: string
  readonly ms: number
  /** Absent, like the fields from database to keys, if the call was refused before it was decoded. */
  readonly project?: string | undefined
  /** Empty = the default database. */
  readonly database?: string | undefined
  /** Namespaces other than the default one. */
  readonly namespaces?: readonly string[] | undefined
  readonly kinds?: readonly string[] | undefined
  /** Number of keys or mutations; absent for queries. */
  readonly keys?: number | undefined
  readonly key?: string | undefined
  readonly rowsRead: number
  readonly rowsWritten: number
  readonly transaction?: string | undefined
  readonly began?: true | undefined
  readonly waits?: readonly RequestWait[] | undefined
  /** Ids of the transactions that won the conflict in which its own was aborted. */
  readonly abortedBy?: readonly string[] | undefined
}

const keysMax = 50
const kindsMax = 20
const messageCharactersMax = 2000

/** Written for speed, because a watched server calls it for each call. */
export function summaryOf(report: CallReport): CallSummary {
  const { method, facts, trace, message, beganAtMs, durationMs } = report
  return {
    method: dataMethodOf(method),
    code: report.code,
    message: message?.slice(0, messageCharactersMax),
    protocol: report.protocol,
    at: instantOf(performance.timeOrigin + beganAtMs),
    ms: roundedMs(durationMs),
    ...(facts === undefined ? {} : namesOf(facts)),
    rowsRead: report.rowsRead,
    rowsWritten: report.rowsWritten,
    ...(facts === undefined ? {} : transactionOf(facts)),
    waits: trace === undefined || trace.waited.length === 0 ? undefined : waitsOf(trace.waited, report),
    abortedBy: trace?.abortedBy?.map(String),
  }
}

function waitsOf(waited: readonly TracedWait[], { beganAtMs, durationMs }: CallReport): readonly RequestWait[] {
  return waited.map(({ fromMs, toMs, row, holders }) => ({
    afterMs: roundedMs(fromMs - beganAtMs),
    ms: roundedMs((toMs ?? beganAtMs + durationMs) - fromMs),
    row,
    for: holders.map(String),
  }))
}

function namesOf(facts: CallFacts): Partial<CallSummary> {
  const { keys = [], mutations = [], query } = facts.asked
  const namespaces: string[] = []
  const kinds: string[] = []
  let first: Key | undefined
  if (query !== undefined) {
    note(namespaces, query.partition.namespaceId)
    note(kinds, query.kind ?? '')
  }
  let seen = 0
  for (const key of facts.keys()) {
    if (++seen > keysMax) break
    first ??= key
    note(namespaces, key.partition.namespaceId)
    note(kinds, key.path[key.path.length - 1]?.kind ?? '')
  }
  const count = keys.length + mutations.length
  const shown = facts.given?.keys?.[0] ?? first
  return {
    project: facts.projectId,
    database: facts.databaseId,
    namespaces: namespaces.length === 0 ? undefined : namespaces,
    kinds: kinds.length === 0 ? undefined : kinds,
    keys: query !== undefined || count === 0 ? undefined : count,
    key:
      shown === undefined || shown.path.length === 0 ? undefined : formatKeyPath(shown.path).slice(0, keyCharactersMax),
  }
}

function transactionOf({ asked, given }: CallFacts): Pick<CallSummary, 'transaction' | 'began'> {
  const token = given?.transaction ?? asked.transaction
  const id = token === undefined ? undefined : transactionIdOf(token)
  return {
    transaction: id === undefined ? undefined : String(id),
    began: given?.transaction === undefined ? undefined : true,
  }
}

const keyCharactersMax = 300

/** Adds a name that is not in the list yet; skips the empty one (the default namespace, no kind). */
function note(names: string[], name: string): void {
  if (name !== '' && names.length < kindsMax && !names.includes(name)) names.push(name)
}

function instantOf(ms: number): string {
  const whole = Math.floor(ms)
  const micros = String(Math.floor((ms - whole) * 1000)).padStart(3, '0')
  return `${new Date(whole).toISOString().slice(0, -1)}${micros}Z`
}

/**
 * The call as one line. Values with spaces, quotes or control characters are printed as JSON, so that programs can parse it.
 *
 *   commit OK project=demo database=(default) kinds=ToDo keys=1 ms=0.42 rowsRead=2 rowsWritten=6 via=grpc
 *   lookup INVALID_ARGUMENT project=demo database=(default) ms=0.11 rowsRead=0 rowsWritten=0 via=json message="…"
 */
export function callLine(call: CallSummary): string {
  const words = [call.method, call.code]
  const add = (name: string, value: string | number | undefined): void => {
    const text = String(value)
    if (value !== undefined) words.push(`${name}=${/^[^\s"\\\p{C}]+$/u.test(text) ? text : JSON.stringify(text)}`)
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
