/**
 * The meter: the interface by which the engine charges its operations to the tablets.
 *
 *   request ─▶ ledger ─▶ meter.countdown 0? ─▶ take()      rows read and written, a sample or all of them
 *   commit  ─▶ admit()                                     before the log append: admitted, or refused
 *
 * With simulation, and without it at a low rate, every operation is taken. At a high rate without simulation one operation is
 * taken after a random number of others, and represents them; the others cost one countdown. take() never throws: delay and
 * refusal are noted in the RequestLoad, and take effect when the request is settled.
 */
import type { LedgerEntry, RowKey } from './row.ts'

/** The weight of a request, and its delay so far. */
export interface RequestLoad {
  readonly weight: number
  /** Time over which a weight above 1 is spread; `undefined` = the setting. */
  readonly spreadMs: number | undefined
  /** The number of requests that it counts as; 0 = it is not timed. */
  readonly requests: number
  readonly startedMs: number
  /** The time of the slowest of its tablets. */
  delayMs: number
  /** The first refusal by a tablet. */
  refusal: Refusal | undefined
  /** Its commit was admitted: nothing refuses it any more. */
  admitted: boolean
}

export interface Refusal {
  readonly code: 'RESOURCE_EXHAUSTED' | 'UNAVAILABLE'
  readonly message: string
}

export interface Meter {
  /** Operations until the next one that is taken; ledgers count it down. */
  countdown: number
  take(load: RequestLoad | undefined, entry: LedgerEntry, through: RowKey | undefined): void
}
