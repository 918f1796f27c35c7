/**
 * The meter: the interface by which the engine charges its operations to the tablets.
 *
 *   request ─▶ ledger ─▶ meter.countdown 0? ─▶ take()      rows read and written, a sample or all of them
 *   commit  ─▶ admit()                                     before the log append: admitted, or refused
 *
 * M1  With simulation, and without it at a low rate, every operation is taken. At a high rate without simulation, operations
 *     are sampled: one is taken after a random number of others, and stands for them. The others cost one countdown.
 * M2  take() never throws: delay and refusal are noted in the RequestLoad, and take effect when the request is settled.
 */
import type { RowKey, RowOperation, TableId } from './row.ts'

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
