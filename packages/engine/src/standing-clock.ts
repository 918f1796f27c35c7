/**
 * A clock that stands at a moment, so that every stamp of a test is known before it runs.
 *
 *   commits        stamped one microsecond after the other, from that moment on (log/commit-version.ts)
 *   who sleeps     sleeps its real time, and the clock then stands where the sleep ends
 *
 * C3  It never goes back, and moves by sleeps alone: a lock's timeout and a delayed apply still come.
 *
 * To be moved on, it goes below a MovableClock.
 */
import type { Scheduler } from './clock.ts'

export class StandingClock implements Scheduler {
  readonly #timers: Scheduler
  #now: bigint

  /**
   * @param startAt - microseconds since the epoch
   * @param timers - by which sleeps take their time
   */
  constructor(startAt: bigint, timers: Scheduler) {
    this.#now = startAt
    this.#timers = timers
  }

  nowMicros(): bigint {
    return this.#now
  }

  steadyMs(): number {
    return this.#timers.steadyMs()
  }

  defer(task: () => void): void {
    this.#timers.defer(task)
  }

  async sleep(ms: number, signal?: AbortSignal, isAwaited?: boolean): Promise<void> {
    const endsAt = this.#now + BigInt(Math.ceil(ms * 1000))
    await this.#timers.sleep(ms, signal, isAwaited)
    if (endsAt > this.#now) this.#now = endsAt
  }
}
