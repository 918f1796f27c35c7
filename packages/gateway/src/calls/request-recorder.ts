/**
 * The newest calls of the data API, for those who watch them: a summary of each, and its messages, plan and rows for a while.
 *
 *   Calls ──report──▶ recorder: ring of {@link callsMax} ──▶ list, stream, one in detail
 *
 * RR1  At most {@link callsMax} calls and 16 MiB are kept; the messages of the oldest calls go first.        request-recorder.test.ts
 * RR2  While no reader watches, and it was not asked for at the start, calls are not observed. Those kept stay readable.
 *                                                                                             test/contract/requests.test.ts
 */
import type { RowTally, TableId, TouchedRows } from '@sixtables/engine'
import { type CallSummary, summaryOf } from './call-summary.ts'
import type { CallTrace } from './call-trace.ts'
import type { CallReport, Calls } from './calls.ts'
import type { KeptMessage } from './kept-message.ts'

export const callsMax = 1000
/** With the summaries, of at most 4 KiB each, 16 MiB. */
export const detailBytesMax: number = 12 * 1024 * 1024
/** A plan has so many bytes, and more as its request is longer: estimated. */
const planBytes = 4096
const planBytesOfByte = 16
const overheadBytes = 1024

export interface RecordedRequest extends CallSummary {
  /** Grows by one with each call. */
  readonly id: number
}

/** Rows of one table that a call touched. */
export interface TableRows extends TouchedRows {
  readonly table: TableId
  /** Those of the written rows that were deleted. */
  readonly rowsDeleted: number
}

/** The part that is forgotten sooner. */
export interface RequestDetail {
  /** The messages in protocol buffers; absent where the call had none, or none that decoded. */
  readonly request: KeptMessage | undefined
  readonly answer: KeptMessage | undefined
  readonly plan: CallTrace['plan']
  readonly tables: readonly TableRows[]
}

interface Recorded {
  readonly summary: RecordedRequest
  detail: RequestDetail | undefined
  bytes: number
}

export class RequestRecorder {
  readonly #calls: Calls
  readonly #detailBytesMax: number
  #recorded: Recorded[] = []
  #lastId = 0
  #bytes = 0
  /** How many from the oldest on have no detail any more. */
  #bare = 0
  #watchers = 0
  #stop: (() => void) | undefined
  readonly #waiting = new Set<() => void>()

  constructor(calls: Calls, detailBytes: number = detailBytesMax) {
    this.#calls = calls
    this.#detailBytesMax = detailBytes
  }

  get isRecording(): boolean {
    return this.#stop !== undefined
  }

  /** Id of the newest call; 0 = none yet. */
  get lastId(): number {
    return this.#lastId
  }

  /** Records until the function that is returned, and those of all other watchers, are called. */
  watch(): () => void {
    this.#watchers++
    this.#stop ??= this.#calls.observe((report) => this.add(report), 'messages')
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      if (--this.#watchers > 0) return
      this.#stop?.()
      this.#stop = undefined
    }
  }

  /** The newest calls that match, newest first. @param before - only those with smaller ids */
  newest(
    matches: (request: RecordedRequest) => boolean,
    limit: number,
    before: number = Number.POSITIVE_INFINITY,
  ): RecordedRequest[] {
    const found: RecordedRequest[] = []
    for (let i = this.#recorded.length - 1; i >= 0 && found.length < limit; i--) {
      const { summary } = this.#recorded[i] as Recorded
      if (summary.id < before && matches(summary)) found.push(summary)
    }
    return found
  }

  /** A call with its detail, which is `undefined` once newer ones took its place. */
  find(id: number): { readonly summary: RecordedRequest; readonly detail: RequestDetail | undefined } | undefined {
    const first = this.#recorded[0]
    return first === undefined ? undefined : this.#recorded[id - first.summary.id]
  }

  clear(): void {
    this.#recorded = []
    this.#bytes = 0
    this.#bare = 0
  }

  /** Resolves when there is a call after that one, or the signal aborts. */
  after(id: number, signal: AbortSignal): Promise<void> {
    if (this.#lastId > id || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      this.#waiting.add(done)
      signal.addEventListener('abort', done)
    })
  }

  /** Takes a call that has ended. */
  add(report: CallReport): void {
    const summary = { id: ++this.#lastId, ...summaryOf(report) }
    const detail = detailOf(report)
    const bytes = bytesOf(detail)
    this.#recorded.push({ summary, detail, bytes })
    this.#bytes += bytes
    if (this.#recorded.length > callsMax) this.#forgetOldest()
    while (this.#bytes > this.#detailBytesMax && this.#bare < this.#recorded.length) this.#bareOldest()
    if (this.#waiting.size > 0) for (const wake of [...this.#waiting]) wake()
  }

  #forgetOldest(): void {
    const oldest = this.#recorded.shift()
    this.#bytes -= oldest?.bytes ?? 0
    if (this.#bare > 0) this.#bare--
  }

  #bareOldest(): void {
    const oldest = this.#recorded[this.#bare++] as Recorded
    oldest.detail = undefined
    this.#bytes -= oldest.bytes
    oldest.bytes = 0
  }
}

function detailOf({ trace }: CallReport): RequestDetail {
  return {
    request: trace?.request,
    answer: trace?.answer,
    plan: trace?.plan,
    tables: trace === undefined ? [] : tablesOf(trace.ledger.tables, trace.applied ?? {}),
  }
}

/** Rows that were touched while the call ran, and those that its commit makes. */
function tablesOf(touched: ReadonlyMap<TableId, TouchedRows>, applied: RowTally): readonly TableRows[] {
  const names = new Set([...touched.keys(), ...(Object.keys(applied) as TableId[])])
  return [...names].map((table) => {
    const { rowsRead = 0, rowsWritten = 0 } = touched.get(table) ?? {}
    const { written = 0, deleted = 0 } = applied[table] ?? {}
    return { table, rowsRead, rowsWritten: rowsWritten + written + deleted, rowsDeleted: deleted }
  })
}

function bytesOf({ request, answer, plan }: RequestDetail): number {
  const sent = request?.bytes.length ?? 0
  const ofPlan = plan === undefined ? 0 : planBytes + planBytesOfByte * sent
  return overheadBytes + sent + (answer?.bytes.length ?? 0) + ofPlan
}
