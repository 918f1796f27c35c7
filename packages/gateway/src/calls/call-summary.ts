/**
 * A call in a few plain words and figures: what the log, the list of requests and `sixtables requests` show of it. Plain JSON.
 */
import { formatKeyPath, type Key, transactionIdOf } from '@sixtables/engine'
import { type CallFacts, keyOfMutation } from './call-facts.ts'
import type { CallReport, WireProtocol } from './calls.ts'

/** A wait for other transactions. */
export interface RequestWait {
  /** Begin, in milliseconds after that of the call. */
  readonly afterMs: number
  readonly ms: number
  /** The contended row, in words. */
  readonly row: string
  /** Ids of the transactions that it waited for; `0` is a write outside of transactions. */
  readonly for: readonly string[]
}

export interface CallSummary {
  /** In lower camel case. */
  readonly method: string
  readonly code: string
  readonly message?: string
  readonly protocol: WireProtocol
  /** When it began: RFC 3339 with microseconds. */
  readonly at: string
  readonly ms: number
  /** Absent, as database to keys, for a call that was refused before it was understood. */
  readonly project?: string
  /** Empty = the default database. */
  readonly database?: string
  /** Namespaces but the default one. */
  readonly namespaces?: readonly string[]
  readonly kinds?: readonly string[]
  /** Number of keys or mutations; absent for queries. */
  readonly keys?: number
  /** The first of them. */
  readonly key?: string
  readonly rowsRead: number
  readonly rowsWritten: number
  /** Id of the transaction that it belongs to, or began. */
  readonly transaction?: string
  readonly began?: true
  readonly waits?: readonly RequestWait[]
  /** Ids of the transactions in whose favour its own was aborted. */
  readonly abortedBy?: readonly string[]
}

/** Keys of a call that are looked at. */
const keysMax = 50
const kindsMax = 20
const messageCharactersMax = 2000

export function summaryOf(report: CallReport): CallSummary {
  const { method, protocol, code, message, facts, trace, beganAtMs, durationMs, rowsRead, rowsWritten } = report
  const waits = (trace?.waited ?? []).map(({ fromMs, toMs, row, holders }) => ({
    afterMs: rounded(fromMs - beganAtMs),
    ms: rounded((toMs ?? beganAtMs + durationMs) - fromMs),
    row,
    for: holders.map(String),
  }))
  return {
    method: `${method.charAt(0).toLowerCase()}${method.slice(1)}`,
    code,
    ...(message === undefined ? {} : { message: message.slice(0, messageCharactersMax) }),
    protocol,
    at: instantOf(performance.timeOrigin + beganAtMs),
    ms: rounded(durationMs),
    ...(facts === undefined ? {} : namesOf(facts)),
    rowsRead,
    rowsWritten,
    ...(waits.length === 0 ? {} : { waits }),
    ...(trace?.abortedBy === undefined ? {} : { abortedBy: trace.abortedBy.map(String) }),
  }
}

function namesOf(facts: CallFacts): Partial<CallSummary> {
  const { projectId: project, databaseId: database, asked, given } = facts
  const { keys = [], mutations = [], query } = asked
  const count = keys.length + mutations.length
  const some: readonly Key[] = [
    ...keys.slice(0, keysMax),
    ...mutations.slice(0, keysMax).map((mutation) => keyOfMutation(mutation, facts)),
  ]
  const namespaces =
    query === undefined ? some.map(({ partition }) => partition.namespaceId) : [query.partition.namespaceId]
  const kinds = query === undefined ? some.map(({ path }) => path.at(-1)?.kind) : [query.kind]
  const named = distinct(namespaces).filter((name) => name !== '')
  const known = distinct(kinds.filter((kind) => kind !== undefined))
  const first = given?.keys?.[0] ?? some[0]
  const token = given?.transaction ?? asked.transaction
  const id = token === undefined ? undefined : transactionIdOf(token)
  return {
    project,
    database,
    ...(named.length === 0 ? {} : { namespaces: named }),
    ...(known.length === 0 ? {} : { kinds: known }),
    ...(query !== undefined || count === 0 ? {} : { keys: count }),
    ...(first === undefined || first.path.length === 0
      ? {}
      : { key: formatKeyPath(first.path).slice(0, keyCharactersMax) }),
    ...(id === undefined ? {} : { transaction: String(id) }),
    ...(given?.transaction === undefined ? {} : { began: true }),
  }
}

const keyCharactersMax = 300

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)].slice(0, kindsMax)
}

/** To a microsecond. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000
}

function instantOf(ms: number): string {
  const whole = Math.floor(ms)
  const micros = Math.floor((ms - whole) * 1000)
  return `${new Date(whole).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z`
}
