/**
 * The machine's time in microseconds: the wall clock, which tells whole milliseconds, with the digits of the monotonic clock. That one
 * alone would not do: Linux stops it while the machine is suspended, and it does not know that the wall clock was set.
 *
 * WC1  It follows the wall clock at once, forward over a suspension and back where it was set right. How long something takes, and when
 *      its time is over, is told by the steady clock (clock.ts).                                                 wall-clock.test.ts
 */

/** By how much it may differ from the wall clock. */
const differenceMsMax = 5

export class WallClock {
  readonly #wallMs: () => number
  readonly #steadyMs: () => number
  /** By how much it is ahead of the monotonic clock. */
  #originMs: number

  /** @param originMs - what the wall clock showed when the monotonic one showed 0 */
  constructor(wallMs: () => number, steadyMs: () => number, originMs: number) {
    this.#wallMs = wallMs
    this.#steadyMs = steadyMs
    this.#originMs = originMs
  }

  nowMicros(): bigint {
    // The wall clock first: a pause between the two then never looks as if it had gone on.
    const wall = this.#wallMs()
    const steady = this.#steadyMs()
    const behind = wall - (this.#originMs + steady)
    if (Math.abs(behind) > differenceMsMax) this.#originMs += behind
    return BigInt(Math.floor((this.#originMs + steady) * 1000))
  }
}
