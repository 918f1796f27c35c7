/**
 * The machine's time in microseconds: the wall clock, which has whole milliseconds, with the digits of the monotonic clock.
 * The monotonic clock alone is not enough: Linux stops it while the machine is suspended, and it ignores corrections of the
 * wall clock.
 *
 * This clock follows the wall clock at once: forward after a suspension, and back after a correction. Durations and timeouts
 * use the steady clock (clock.ts) instead.
 */

/** The largest difference from the wall clock. */
const differenceMsMax = 5

export class WallClock {
  readonly #wallMs: () => number
  readonly #steadyMs: () => number
  /** How far it is ahead of the monotonic clock. */
  #originMs: number

  /** @param originMs - the wall clock's time when the monotonic one was 0 */
  constructor(wallMs: () => number, steadyMs: () => number, originMs: number) {
    this.#wallMs = wallMs
    this.#steadyMs = steadyMs
    this.#originMs = originMs
  }

  nowMicros(): bigint {
    // The wall clock first: a pause between the two calls then cannot look like a jump ahead.
    const wall = this.#wallMs()
    const steady = this.#steadyMs()
    const behind = wall - (this.#originMs + steady)
    if (Math.abs(behind) > differenceMsMax) this.#originMs += behind
    return BigInt(Math.floor((this.#originMs + steady) * 1000))
  }
}
