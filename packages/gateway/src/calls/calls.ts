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
  readonly rowsRead: number
  readonly rowsWritten: number
}

/** Called at the end of each call, before the next one begins; must not throw and must not wait. */
export type CallObserver = (report: CallReport) => void

export class Calls {
  readonly #observers = new Set<CallObserver>()

  /** Whether there is an observer; every call asks. */
  get any(): boolean {
    return this.#observers.size > 0
  }

  /** @returns what ends it */
  observe(observer: CallObserver): () => void {
    this.#observers.add(observer)
    return () => this.#observers.delete(observer)
  }

  begin(call: Call): void {
    if (this.#observers.size > 0 && !call.isUncounted) call.beganAtMs = performance.now()
  }

  end(call: Call, end: CallEnd): void {
    const { beganAtMs } = call
    if (beganAtMs === undefined) return
    call.beganAtMs = undefined
    const { ledger, facts } = call
    const { rowsRead, rowsWritten } = ledger instanceof CountingLedger ? ledger : { rowsRead: 0, rowsWritten: 0 }
    const report = { ...end, facts, durationMs: performance.now() - beganAtMs, rowsRead, rowsWritten }
    for (const observer of this.#observers) observer(report)
  }
}
