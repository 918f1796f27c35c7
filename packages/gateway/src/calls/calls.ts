/**
 * The place where the end of each call of the data API is reported, for all protocols, to the log and to observers: a lookup over
 * gRPC and one over JSON give the same report. Without an observer this costs one comparison at the start of a call and one at its end,
 * in the protocols: `any`, and the time at which the call began.
 *
 *   protocol: begin(call) ─▶ handler ─▶ handlers/handlers.ts notes the facts ─▶ protocol: end(call, …) ─▶ observers
 *
 * R1  Every call that began while there was an observer that wants it is reported once, whether it was answered, failed, refused by its
 *     protocol or cancelled. Calls with the watcher header are not reported.                        test/contract/calls.test.ts
 */
import { CountingLedger, type StatusCode } from '@sixtables/engine'
import type { Call } from '../call.ts'
import { type CallFacts, CallTrace } from './call-facts.ts'

export type WireProtocol = 'grpc' | 'json' | 'protobuf'

export interface CallEnd {
  /** The protocol's name of the RPC: `Lookup`. */
  readonly method: string
  readonly protocol: WireProtocol
  readonly code: StatusCode | 'OK'
  readonly message?: string | undefined
}

export interface CallReport extends CallEnd {
  /** Absent if the call was refused before it was decoded. */
  readonly facts: CallFacts | undefined
  readonly durationMs: number
  /** Start time in milliseconds of `performance.now()`. */
  readonly beganAtMs: number
  readonly rowsRead: number
  /** For a traced call, this includes the rows that its commit writes in the tables. */
  readonly rowsWritten: number
  readonly trace: CallTrace | undefined
}

/** Called at the end of each call, before the next one begins. It must not throw or wait. */
export type CallObserver = (report: CallReport) => void

/** The amount of detail that an observer wants: figures and facts; these and the trace; these and the messages. */
export type CallDetail = 'figures' | 'trace' | 'messages'

const spent = new CountingLedger()

export class Calls {
  readonly #observers = new Map<CallObserver, CallDetail>()
  #takes: (() => boolean) | undefined
  #isTraced = false
  /** Whether an observer wants figures or the trace of every call. */
  #hasOthers = false
  /** Whether there is an observer; without one {@link begin} need not be called. */
  any = false

  /** @param takes - whether the observer of messages, the only one, wants the call that begins. @returns a function that removes the observer */
  observe(observer: CallObserver, detail: CallDetail = 'figures', takes?: () => boolean): () => void {
    this.#observers.set(observer, detail)
    this.#note(detail === 'messages' ? takes : this.#takes)
    return () => {
      this.#observers.delete(observer)
      this.#note(detail === 'messages' ? undefined : this.#takes)
    }
  }

  #note(takes: (() => boolean) | undefined): void {
    const details = [...this.#observers.values()]
    this.any = details.length > 0
    this.#takes = takes
    this.#isTraced = details.includes('trace')
    this.#hasOthers = details.some((detail) => detail !== 'messages')
  }

  begin(call: Call): void {
    if (call.isUncounted) return
    const isTaken = this.#takes?.() === true
    if (!isTaken && !this.#hasOthers) return
    call.beganAtMs = performance.now()
    if (!isTaken && !this.#isTraced) return
    call.trace = new CallTrace(isTaken)
    call.ledger = call.trace.ledger
  }

  /** Needed only for a call that has a time at which it began. */
  end(call: Call, end: CallEnd): void {
    const { beganAtMs } = call
    if (beganAtMs === undefined) return
    call.beganAtMs = undefined
    const { ledger, facts, trace } = call
    const { rowsRead, rowsWritten: charged } =
      ledger instanceof CountingLedger ? ledger : { rowsRead: 0, rowsWritten: 0 }
    const rowsWritten = charged + (trace?.rowsApplied ?? 0)
    const durationMs = performance.now() - beganAtMs
    const report = { ...end, facts, trace, beganAtMs, durationMs, rowsRead, rowsWritten }
    for (const [observer, detail] of this.#observers) {
      if (detail !== 'messages' || trace?.keepsMessages === true) observer(report)
    }
    // Node keeps the stream of a call for a while; the trace would survive a young collection with it.
    call.trace = undefined
    call.facts = undefined
    if (end.code === 'OK') call.ledger = spent
  }
}
