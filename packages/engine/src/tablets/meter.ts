/**
 * How the rest of the engine tells the tablets what it does.
 *
 *   request ─▶ ledger ─▶ meter.countdown 0? ─▶ take()      rows read and written, a sample or all of them
 *   commit  ─▶ admit()                                     before the log append: may it go through now?
 *   apply   ─▶ noteChange()                                rows and bytes that come or go
 *
 * M1  With simulation, and without it while there are few, every operation is taken. Of many, one is taken after a drawn
 *     number of others, for which it stands: the countdown is all that the others cost.
 * M2  Nothing is thrown by take(): what a request met is noted in its RequestLoad and comes out when it is settled.
 */
import type { RowKey, RowOperation, TableId } from '../row.ts'

/** The weight of a request, and its delay so far. */
export interface RequestLoad {
  readonly weight: number
  /** Time over which a weight above 1 is spread; `undefined` = the setting. */
  readonly spreadMs: number | undefined
  /** How many requests it is counted for; 0 = it is not timed. */
  readonly requests: number
  readonly startedMs: number
  /** How long the slowest of its tablets takes. */
  delayMs: number
  /** Why it cannot be answered, by the first tablet that refused it. */
  refusal: Refusal | undefined
  /** Its commit was let through: from now on nothing refuses it. */
  admitted: boolean
}

export interface Refusal {
  readonly code: 'RESOURCE_EXHAUSTED' | 'UNAVAILABLE'
  readonly message: string
}

export interface Meter {
  /** Operations until the next one that is taken; counted down by ledgers. */
  countdown: number
  take(
    load: RequestLoad | undefined,
    table: TableId,
    operation: RowOperation,
    rowKey: RowKey,
    rows: number,
    bytes: number,
    through: RowKey | undefined,
  ): void
}
