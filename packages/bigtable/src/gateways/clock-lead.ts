/**
 * The lead of stamps on the clock of a gateway, for a clock that is behind those of other gateways.
 *
 * While a gateway whose clock is ahead writes the clock row all the time, the stamps of the others come too late. The stamp that such a write
 * finds there was given about as long ago as a write takes: so far ahead is the clock that gave it.
 *
 * CL1  Gateways whose clocks are behind get stamps beside one whose clock is up to a second ahead; the register keeps to that clock.
 * CL2  A clock that is further ahead is not followed: it is wrong, and its stamps would last as long as the lead.
 *                                                                                                        both: clock-lead.test.ts
 */
import type { Scheduler } from '@sixtables/engine'

/** The longest time of a write that counts. */
const tookMsMax = 1_000
const leadMicrosMax = 1_000_000n
/** A lead shrinks by one part in so many of the time that passes: it goes when the clock is gone that it follows. */
const lasts = 64n

export class ClockLead {
  readonly #clock: Pick<Scheduler, 'nowMicros' | 'steadyMs'>
  #micros = 0n
  /** When it was so long, in milliseconds of the steady clock. */
  #sinceMs = 0

  constructor(clock: Pick<Scheduler, 'nowMicros' | 'steadyMs'>) {
    this.#clock = clock
  }

  /** In microseconds, now. */
  get micros(): bigint {
    const passed = BigInt(Math.round((this.#clock.steadyMs() - this.#sinceMs) * 1000))
    const left = this.#micros - passed / lasts
    return left > 0n ? left : 0n
  }

  /**
   * A write came too late, and the row was read since.
   *
   * @param register - as it was read
   * @param tookMs - from the sending of the write to its answer
   */
  cameLate(register: bigint, tookMs: number): void {
    const took = BigInt(Math.round(Math.min(tookMs, tookMsMax) * 1000))
    const lead = this.micros
    const ahead = register + took - this.#clock.nowMicros() - lead
    // Less may be chance: no two writes take the same time.
    if (ahead * 2n <= took || lead + ahead > leadMicrosMax) return
    this.#micros = lead + ahead
    this.#sinceMs = this.#clock.steadyMs()
  }
}
