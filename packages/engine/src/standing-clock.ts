/**
 * A clock that stands still, so that every timestamp of a test is known before it runs.
 *
 *   commits        get timestamps one microsecond apart, from the start on (log/commit-version.ts)
 *   sleeps         take their real time, and then move the clock by their duration
 *
 * It never goes back, and only sleeps move it: a lock's timeout and a delayed apply still happen. Put a MovableClock over it
 * to advance it.
 */
import type { Scheduler } from './clock.ts'

export class StandingClock implements Scheduler {
  readonly #timers: Scheduler
  #now: bigint

  /** @param startAt - microseconds since the epoch. @param timers - provides the real time of sleeps */
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
