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

/**
 * @param originMs - the wall clock's time when the monotonic one was 0
 * @returns a function that gives the time in microseconds
 */
export function wallClock(wallMs: () => number, steadyMs: () => number, originMs: number): () => bigint {
  // How far this clock is ahead of the monotonic one.
  let aheadMs = originMs
  return () => {
    // The wall clock first: a pause between the two calls then cannot look like a jump ahead.
    const wall = wallMs()
    const steady = steadyMs()
    const behind = wall - (aheadMs + steady)
    if (Math.abs(behind) > differenceMsMax) aheadMs += behind
    return BigInt(Math.floor((aheadMs + steady) * 1000))
  }
}
