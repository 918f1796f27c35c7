/**
 * The one place where the end of each call of the data API is reported, whatever its protocol: for the log, and for observers that
 * watches.
 *
 *   protocol: begin(call) ─▶ handler ─▶ controls/watched-port.ts notes the facts ─▶ protocol: end(call, …) ─▶ observers
 *
 * R1  Every call but an uncounted one that began while there was an observer, and that it takes, is reported once: answered, failed, refused by its protocol, or given up.
 * R2  Without an observer a call costs a test at its beginning and one at its end.
 */
import { CountingLedger, type StatusCode } from '@sixtables/engine'
import type { Call } from '../call.ts'
import type { CallFacts } from './call-facts.ts'
import { CallTrace } from './call-trace.ts'

export type WireProtocol = 'grpc' | 'json' | 'protobuf'

/** How a call ended, as its client was told. */
export interface CallEnd {
  /** RPC as the protocol names it: `Lookup`. */
  readonly method: string
  readonly protocol: WireProtocol
  readonly code: StatusCode | 'OK'
  /** Message of the error. */
  readonly message?: string | undefined
}

export interface CallReport extends CallEnd {
  /** Absent for a call that was refused before it was understood. */
  readonly facts: CallFacts | undefined
  readonly durationMs: number
  /** When it began, in milliseconds of `performance.now()`. */
  readonly beganAtMs: number
  readonly rowsRead: number
  /** Those that its commit makes in the tables are among them where it was traced. */
  readonly rowsWritten: number
  /** Where an observer asked for it. */
  readonly trace: CallTrace | undefined
}

/** Called at the end of each call, before the next one begins; must not throw and must not wait. */
export type CallObserver = (report: CallReport) => void

/** How much an observer wants to know of a call: figures and facts; also its trace; also its messages. */
export type CallDetail = 'figures' | 'trace' | 'messages'

/** The ledger of calls that were answered: nothing is charged for them any more. */
const spent = new CountingLedger()

export class Calls {
  readonly #observers = new Map<CallObserver, CallDetail>()
  /** Asked for each call whether the observer of messages takes it. */
  #takes: (() => boolean) | undefined
  #isTraced = false
  /** An observer wants the figures, or the trace, of every call. */
  #hasOthers = false

  /** Whether there is an observer; every call asks. */
  get any(): boolean {
    return this.#observers.size > 0
  }

  /**
   * @param takes - of an observer of messages, of which there is one: whether it wants the call that begins
   * @returns what ends it
   */
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
    this.#takes = takes
    this.#isTraced = details.includes('trace')
    this.#hasOthers = details.some((detail) => detail !== 'messages')
  }

  begin(call: Call): void {
    if (this.#observers.size === 0 || call.isUncounted) return
    const isTaken = this.#takes?.() === true
    if (!isTaken && !this.#hasOthers) return
    call.beganAtMs = performance.now()
    if (!isTaken && !this.#isTraced) return
    call.trace = new CallTrace(isTaken)
    call.ledger = call.trace.ledger
  }

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
    // Node keeps the stream of a call a while longer, and what hangs on it would outlive a collection of young objects.
    call.trace = undefined
    call.facts = undefined
    if (end.code === 'OK') call.ledger = spent
  }
}
