/**
 * The newest calls of the data API, for tools that watch them: for each a summary, its messages, plan and rows.
 *
 *   Calls ──report──▶ recorder: one text and two messages for each call ──▶ list, stream, one in detail
 *
 * The newest {@link callsMax} calls are kept, in 16 MiB at most. A burst of that many is kept whole; of a constant load only
 * {@link callsPerSecond} are kept a second and the others counted, because recording all would take more than a tenth of the CPU. Calls
 * are observed only while a reader watches, or from the start if a flag says so; those kept can be read later.
 *
 * Known: the wire format, and field numbers of google/datastore/v1/datastore.proto.
 */
import type { PlanTree, RowTally, TableId, TouchedRows } from '@sixtables/engine'
import { contentOf, fieldsOf, headOf } from '../convert/wire-fields.ts'
import { type CallSummary, summaryOf } from './call-summary.ts'
import type { CallReport, Calls } from './calls.ts'
import { Readers } from './readers.ts'

export const callsMax = 1000
const callsPerSecond = 1000
const refillEveryMs = 100
const bytesMaxDefault = 16 * 1024 * 1024

export interface RecordedRequest extends CallSummary {
  /** One higher for each call. */
  readonly id: number
}
export interface TableRows extends TouchedRows {
  /** The number of deletions among the written rows. */
  readonly rowsDeleted: number
}

interface Messages {
  /** Absent if the call had none, or none that decoded. */
  readonly request?: KeptMessage | undefined
  readonly answer?: KeptMessage | undefined
}

interface RecordText {
  readonly summary: CallSummary
  readonly plan?: PlanTree | undefined
  readonly tables: readonly TableRows[]
}

export type RequestDetail = Messages & Omit<RecordText, 'summary'>

interface Kept extends Messages {
  readonly id: number
  /** A {@link RecordText} as JSON, whose length shows the memory that it needs. */
  readonly text: string
  readonly bytes: number
}

export interface KeptMessage {
  readonly bytes: Buffer
  readonly size: number
  /** Number of elements kept and of all; absent if none was lost. */
  readonly cut?: { readonly kept: number; readonly of: number }
}

export const keptBytesMax: number = 64 * 1024
const otherBytes = 4096

/** Field numbers of the path to the long lists of a message, one level after the other. */
type ListPath = readonly (readonly number[])[]

const lists: Readonly<Record<string, { readonly request?: ListPath; readonly answer?: ListPath }>> = {
  Lookup: { request: [[3]], answer: [[1, 2, 3]] },
  RunQuery: { answer: [[1], [2]] },
  Commit: { request: [[6]], answer: [[3]] },
  AllocateIds: { request: [[1]], answer: [[1]] },
  ReserveIds: { request: [[1]] },
}

/**
 * A message as it is kept. A long one loses most elements of its list, and remains a message of its type of at most {@link keptBytesMax} bytes,
 * or with one element if that is larger:
 *
 *   CommitRequest { project_id, mutations × 500 }  3 MiB   ─▶   CommitRequest { project_id, mutations × 9 }  64 KiB, 9 of 500
 *
 * @param method - the protocol's name of the RPC: `Lookup`
 */
export function keptMessage(method: string, side: 'request' | 'answer', message: Uint8Array): KeptMessage {
  const size = message.length
  // A copy in memory of its own: a part of Node's pool would keep its neighbours.
  if (size <= keptBytesMax) return { bytes: Buffer.from(new Uint8Array(message).buffer), size }
  const counts = { kept: 0, of: 0, bytes: 0 }
  try {
    const bytes = Buffer.concat(cutParts(message, lists[method]?.[side] ?? [], counts))
    return bytes.length === size ? { bytes, size } : { bytes, size, cut: { kept: counts.kept, of: counts.of } }
  } catch {
    // These bytes are no message, so nothing can be kept.
    return { bytes: Buffer.alloc(0), size, cut: { kept: 0, of: 0 } }
  }
}

function cutParts(
  message: Uint8Array,
  [numbers = [], ...inside]: ListPath,
  counts: { kept: number; of: number; bytes: number },
): Uint8Array[] {
  const parts: Uint8Array[] = []
  for (const { number, bytes: field } of fieldsOf(message)) {
    if (!numbers.includes(number)) {
      if (counts.bytes + field.length <= keptBytesMax) {
        parts.push(field)
        counts.bytes += field.length
      }
    } else if (inside.length > 0) {
      const inner = Buffer.concat(cutParts(contentOf(field), inside, counts))
      parts.push(headOf(number, inner.length), inner)
    } else {
      counts.of++
      const isKept = counts.kept === 0 || counts.bytes + field.length <= keptBytesMax - otherBytes
      if (!isKept) continue
      counts.kept++
      counts.bytes += field.length
      parts.push(field)
    }
  }
  return parts
}

export class RequestRecorder {
  readonly #calls: Calls
  readonly #bytesMax: number
  #kept: Kept[] = []
  #bytes = 0
  /** Id of the newest call; 0 = none yet. */
  lastId = 0
  readonly #watchers = new Set<symbol>()
  #stop: (() => void) | undefined
  /** Number of calls that may be kept before the next refill. */
  #room = callsMax
  /** Number of calls that were not kept for lack of room. */
  passed = 0
  readonly #readers = new Readers()

  constructor(calls: Calls, bytesMax: number = bytesMaxDefault) {
    this.#calls = calls
    this.#bytesMax = bytesMax
  }

  get isRecording(): boolean {
    return this.#stop !== undefined
  }

  /** Observes calls until the returned function, and that of every other watcher, was called. */
  watch(): () => void {
    const watcher = Symbol()
    this.#watchers.add(watcher)
    this.#stop ??= this.#begin()
    return () => {
      this.#watchers.delete(watcher)
      if (this.#watchers.size > 0) return
      this.#stop?.()
      this.#stop = undefined
    }
  }

  #begin(): () => void {
    const refill = setInterval(() => {
      this.#room = Math.min(callsMax, this.#room + (callsPerSecond * refillEveryMs) / 1000)
    }, refillEveryMs)
    refill.unref?.()
    const end = this.#calls.observe(
      (report) => this.add(report),
      'messages',
      () => this.takes(),
    )
    return () => {
      clearInterval(refill)
      end()
    }
  }

  /** Asked at the start of a call. @returns whether there is room for it */
  takes(): boolean {
    if (this.#room > 0) {
      this.#room--
      return true
    }
    this.passed++
    return false
  }

  /** The matching calls, newest first. @param matches - `undefined` = all. @param range - limits of the ids, both excluded */
  newest(
    matches: ((request: RecordedRequest) => boolean) | undefined,
    limit: number,
    { after = 0, before = Number.POSITIVE_INFINITY }: { readonly after?: number; readonly before?: number } = {},
  ): { readonly requests: readonly RecordedRequest[]; readonly more: number } {
    const requests: RecordedRequest[] = []
    let more = 0
    for (const { id, text } of this.#kept.toReversed()) {
      if (id <= after) break
      if (id >= before) continue
      if (requests.length >= limit && matches === undefined) more++
      else {
        const request = { id, ...(JSON.parse(text) as RecordText).summary }
        if (matches?.(request) === false) continue
        if (requests.length < limit) requests.push(request)
        else more++
      }
      if (after === 0 && requests.length >= limit) break
    }
    return { requests, more }
  }

  find(id: number): { readonly summary: RecordedRequest; readonly detail: RequestDetail } | undefined {
    const kept = this.#kept.find((one) => one.id === id)
    if (kept === undefined) return undefined
    const { summary, plan, tables } = JSON.parse(kept.text) as RecordText
    return { summary: { id, ...summary }, detail: { request: kept.request, answer: kept.answer, plan, tables } }
  }

  clear(): void {
    this.#kept = []
    this.#bytes = 0
  }

  /** Resolves when there is a call with a higher id, the signal aborts, or the time is over. @returns whether there is one */
  async after(id: number, signal: AbortSignal, withinMs: number): Promise<boolean> {
    if (this.lastId <= id) await this.#readers.next(signal, withinMs)
    return this.lastId > id
  }

  add(report: CallReport): void {
    this.lastId++
    const { trace, method } = report
    const request = trace?.request && keptMessage(method, 'request', trace.request)
    const answer = trace?.answer && keptMessage(method, 'answer', trace.answer)
    const summary = summaryOf(report)
    const tables = trace === undefined ? [] : tablesOf(trace.ledger.tables, trace.applied)
    const isKept = this.#keep({ summary, plan: trace?.plan?.(), tables }, { request, answer })
    // A call whose messages or plan are too large is kept without details.
    if (!isKept) this.#keep({ summary, tables })
    this.#readers.wake()
  }

  /** Keeps a call, for which the oldest make room. @returns false for one that is larger than all the room */
  #keep(record: RecordText, { request, answer }: Messages = {}): boolean {
    const text = JSON.stringify(record)
    const bytes = Buffer.byteLength(text) + (request?.bytes.length ?? 0) + (answer?.bytes.length ?? 0)
    if (bytes > this.#bytesMax) return false
    this.#kept.push({ id: this.lastId, text, request, answer, bytes })
    this.#bytes += bytes
    while (this.#kept.length > callsMax || this.#bytes > this.#bytesMax) this.#bytes -= this.#kept.shift()?.bytes ?? 0
    return true
  }
}

function tablesOf(touched: readonly TouchedRows[], applied: RowTally | undefined): readonly TableRows[] {
  const rows = touched.map(({ table, rowsRead, rowsWritten }) => ({ table, rowsRead, rowsWritten, rowsDeleted: 0 }))
  for (const name in applied) {
    const table = name as TableId
    const { written = 0, deleted = 0 } = applied[table] ?? {}
    let own = rows.find((one) => one.table === table)
    if (own === undefined) {
      own = { table, rowsRead: 0, rowsWritten: 0, rowsDeleted: 0 }
      rows.push(own)
    }
    own.rowsWritten += written + deleted
    own.rowsDeleted += deleted
  }
  return rows
}
