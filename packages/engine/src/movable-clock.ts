/**
 * The time of another scheduler plus an offset, for tests of processes that take minutes or days.
 *
 * advance(60_000) wakes all sleepers of the next minute, the earliest first; real time continues too. reset(), and a change
 * of the clock below, leave the remaining time of each sleep as it was: sleeps use the steady clock, to which each advance
 * adds. After reset() time may go back, so for an order keep your own last value, as commit versions do (clock.ts).
 */
import { type Scheduler, untilWoken, waitIsOver } from './clock.ts'
import { invalidArgument } from './errors.ts'

interface Sleeper {
  /** Milliseconds of the steady clock. */
  readonly dueAt: number
  /** Ends the wait on the scheduler below. */
  timer: AbortController
  readonly isAwaited: boolean | undefined
  wake(): void
}

/** The maximum of Node's timers; a longer sleep is continued. */
const longestSleepMs = 0x7fff_ffff

/** Node's timers may end up to a millisecond early. A second sleep for the rest would move a standing clock too far. */
const shortestSleepMs = 1

/** Ours: a thousand years, so that a wrong unit is an error. */
const longestAdvanceMs = 1000 * 365 * 86_400_000

/** Ours: timestamps of the API end with the year 9999, and those of commits never go back. So a clock beyond it would end a store's commits. */
const latestMs = Date.UTC(9900, 0)

export class MovableClock implements Scheduler {
  readonly #base: Scheduler
  readonly #sleepers = new Set<Sleeper>()
  #offsetMicros = 0n
  /** The total of all advances. */
  #movedMs = 0

  constructor(base: Scheduler) {
    this.#base = base
  }

  get offsetMs(): number {
    return Number(this.#offsetMicros) / 1000
  }

  nowMicros(): bigint {
    const now = this.#base.nowMicros()
    return this.#offsetMicros === 0n ? now : now + this.#offsetMicros
  }

  steadyMs(): number {
    return this.#base.steadyMs() + this.#movedMs
  }

  defer(task: () => void): void {
    this.#base.defer(task)
  }

  sleep(ms: number, signal?: AbortSignal, isAwaited?: boolean): Promise<void> {
    return untilWoken(signal, (resolve) => {
      const left = Math.min(ms, longestAdvanceMs)
      const leave = (): void => {
        this.#sleepers.delete(sleeper)
        sleeper.timer.abort(waitIsOver)
      }
      const wake = (): void => {
        leave()
        resolve()
      }
      const sleeper: Sleeper = { dueAt: this.steadyMs() + left, timer: new AbortController(), isAwaited, wake }
      this.#sleepers.add(sleeper)
      this.#arm(sleeper, left)
      return leave
    })
  }

  /** @throws INVALID_ARGUMENT for a number that is no duration, or negative, and for a time that is too late */
  advance(ms: number): void {
    if (!(ms >= 0 && ms <= longestAdvanceMs)) {
      throw invalidArgument(
        `a clock is advanced by 0 to ${longestAdvanceMs} milliseconds, not ${ms}; a reset brings it back to real time`,
      )
    }
    if (Number(this.nowMicros()) / 1000 + ms > latestMs) {
      throw invalidArgument(
        'a clock is advanced to 9900-01-01T00:00:00Z at most: timestamps end with the year 9999; a reset brings it back to real time',
      )
    }
    this.#offsetMicros += BigInt(Math.round(ms * 1000))
    this.#movedMs += ms
    const now = this.steadyMs()
    const sleepers = [...this.#sleepers].sort((a, b) => a.dueAt - b.dueAt)
    for (const sleeper of sleepers) {
      if (sleeper.dueAt <= now) sleeper.wake()
      else {
        sleeper.timer.abort(waitIsOver)
        sleeper.timer = new AbortController()
        this.#arm(sleeper)
      }
    }
  }

  reset(): void {
    this.#offsetMicros = 0n
  }

  /** Drops all sleepers, which never wake; its user is gone. Time can still be read. */
  end(): void {
    for (const sleeper of this.#sleepers) sleeper.timer.abort(waitIsOver)
    this.#sleepers.clear()
  }

  #arm(sleeper: Sleeper, leftMs: number = Math.max(0, sleeper.dueAt - this.steadyMs())): void {
    this.#base.sleep(Math.min(leftMs, longestSleepMs), sleeper.timer.signal, sleeper.isAwaited).then(
      () => {
        if (!this.#sleepers.has(sleeper)) return
        if (sleeper.dueAt - this.steadyMs() < shortestSleepMs) sleeper.wake()
        else this.#arm(sleeper)
      },
      () => {},
    )
  }
}
