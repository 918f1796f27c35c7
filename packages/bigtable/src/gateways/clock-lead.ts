/**
 * The lead that a gateway adds to its clock, if the clocks of other gateways are ahead of it.
 *
 * Gateway 7 has a clock that is 400 ms ahead and writes the clock row all the time. The stamps of gateway 9 are then always below the register,
 * and too late. The register that such a write finds is about as old as a write takes, say 5 ms. If it is 395 ms ahead of our clock, gateway 7's
 * clock is 400 ms ahead, so gateway 9 adds 400 ms. A lead of more than a second is never added: the other clock is wrong, and our stamps
 * would be as wrong as it is.
 */
import type { Scheduler } from '@sixtables/engine'

/** A write that took longer says nothing about the other clock. */
const tookMsMax = 1_000
const leadMicrosMax = 1_000_000n
/** In 64 s the lead shrinks by 1 s, so that it ends when the gateway with the fast clock is gone. */
const lasts = 64n

export class ClockLead {
  readonly #clock: Pick<Scheduler, 'nowMicros' | 'steadyMs'>
  #micros = 0n
  /** The time of that lead, in milliseconds of the steady clock. */
  #sinceMs = 0

  constructor(clock: Pick<Scheduler, 'nowMicros' | 'steadyMs'>) {
    this.#clock = clock
  }

  /** The lead now, in microseconds. */
  get micros(): bigint {
    const passed = BigInt(Math.round((this.#clock.steadyMs() - this.#sinceMs) * 1000))
    const left = this.#micros - passed / lasts
    return left > 0n ? left : 0n
  }

  /**
   * Notes a stamp that was too late, after the row was read again.
   *
   * @param register - the register in that read
   * @param tookMs - from the sending of the write to its answer
   */
  cameLate(register: bigint, tookMs: number): void {
    const took = BigInt(Math.round(Math.min(tookMs, tookMsMax) * 1000))
    const lead = this.micros
    const ahead = register + took - this.#clock.nowMicros() - lead
    // A smaller difference may be chance, because no two writes take the same time.
    if (ahead * 2n <= took || lead + ahead > leadMicrosMax) return
    this.#micros = lead + ahead
    this.#sinceMs = this.#clock.steadyMs()
  }
}
