/**
 * The one place where the end of each call of the data API is reported, whatever its protocol: for the log, and for observers that
 * watches.
 *
 *   protocol: begin(call) ─▶ handler ─▶ controls/watched-port.ts notes the facts ─▶ protocol: end(call, …) ─▶ observers
 *
 * R1  Every call but an uncounted one that began while there was an observer is reported once: answered, failed, refused by its protocol, or given up.
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

export class Calls {
  readonly #observers = new Map<CallObserver, CallDetail>()
  #isTraced = false
  #keepsMessages = false

  /** Whether there is an observer; every call asks. */
  get any(): boolean {
    return this.#observers.size > 0
  }

  /** @returns what ends it */
  observe(observer: CallObserver, detail: CallDetail = 'figures'): () => void {
    this.#observers.set(observer, detail)
    this.#note()
    return () => {
      this.#observers.delete(observer)
      this.#note()
    }
  }

  #note(): void {
    const details = [...this.#observers.values()]
    this.#keepsMessages = details.includes('messages')
    this.#isTraced = this.#keepsMessages || details.includes('trace')
  }

  begin(call: Call): void {
    if (this.#observers.size === 0 || call.isUncounted) return
    call.beganAtMs = performance.now()
    if (!this.#isTraced) return
    call.trace = new CallTrace(this.#keepsMessages)
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
    for (const observer of this.#observers.keys()) observer(report)
  }
}
