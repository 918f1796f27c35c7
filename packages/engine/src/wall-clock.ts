/**
 * The machine's time in microseconds: the wall clock, which tells whole milliseconds, with the digits of the monotonic clock. That one
 * alone would not do: Linux stops it while the machine is suspended.
 *
 * WC1  It follows the wall clock forward at once.                                                             wall-clock.test.ts
 * WC2  It never goes back. Where the wall clock was set back, it goes at half its speed until that has caught up: deadlines still come.
 *                                                                                                             wall-clock.test.ts
 */

/** By how much it may differ from the wall clock. */
const differenceMsMax = 5

export class WallClock {
  readonly #wallMs: () => number
  readonly #steadyMs: () => number
  /** By how much it is ahead of the monotonic clock. */
  #originMs: number
  /** The monotonic clock at the last look. */
  #lookedMs = 0

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
    if (behind > differenceMsMax) this.#originMs += behind
    else if (behind < -differenceMsMax) this.#originMs -= Math.min(-behind, (steady - this.#lookedMs) / 2)
    this.#lookedMs = steady
    return BigInt(Math.floor((this.#originMs + steady) * 1000))
  }
}
