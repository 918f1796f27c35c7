/**
 * The time of another scheduler plus an offset that can be moved: for tests of what takes minutes or days.
 *
 * C1  advance() wakes who sleeps until then, the earliest first; real time goes on as well.
 * C2  reset(), and a clock below that is set, leave the remaining time of each sleep as it was: sleeps go by the steady clock, to which
 *     each advance adds.
 *
 * Time may go back by reset(): users that need order keep their own last value, as commit versions do (clock.ts).
 */
import type { Scheduler } from './clock.ts'
import { invalidArgument } from './errors.ts'

interface Sleeper {
  /** Milliseconds of the steady clock. */
  readonly dueAt: number
  /** Ends the wait on the scheduler below. */
  timer: AbortController
  readonly isAwaited: boolean | undefined
  wake(): void
}

/** Timers of Node hold no more; who sleeps longer is put to sleep again. */
const longestSleepMs = 0x7fff_ffff

/** Timers of Node may end up to a millisecond early. Another sleep for the rest would move a clock that stands by more than was asked. */
const shortestSleepMs = 1

/** Ours: a thousand years, so that a slip of units is told instead of done. */
const longestAdvanceMs = 1000 * 365 * 86_400_000

export class MovableClock implements Scheduler {
  readonly #base: Scheduler
  readonly #sleepers = new Set<Sleeper>()
  #offsetMicros = 0n
  /** By how much it was moved on in all. */
  #movedMs = 0

  constructor(base: Scheduler) {
    this.#base = base
  }

  /** How far this clock is ahead of the one below it. */
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
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      const onAbort = (): void => {
        leave()
        reject(signal?.reason)
      }
      const leave = (): void => {
        this.#sleepers.delete(sleeper)
        sleeper.timer.abort()
        signal?.removeEventListener('abort', onAbort)
      }
      const sleeper: Sleeper = {
        dueAt: this.steadyMs() + Math.min(ms, longestAdvanceMs),
        timer: new AbortController(),
        isAwaited,
        wake: () => {
          leave()
          resolve()
        },
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#sleepers.add(sleeper)
      this.#arm(sleeper, Math.min(ms, longestAdvanceMs))
    })
  }

  /**
   * Moves time on.
   *
   * @throws INVALID_ARGUMENT for what is no time, or goes back
   */
  advance(ms: number): void {
    if (!(ms >= 0 && ms <= longestAdvanceMs)) {
      throw invalidArgument(
        `a clock is advanced by 0 to ${longestAdvanceMs} milliseconds, not ${ms}; a reset brings it back to real time`,
      )
    }
    this.#offsetMicros += BigInt(Math.round(ms * 1000))
    this.#movedMs += ms
    const now = this.steadyMs()
    const sleepers = [...this.#sleepers].sort((a, b) => a.dueAt - b.dueAt)
    for (const sleeper of sleepers) {
      if (sleeper.dueAt <= now) sleeper.wake()
      else this.#rearm(sleeper)
    }
  }

  /** Back to the time of the scheduler below. */
  reset(): void {
    this.#offsetMicros = 0n
  }

  /** Its user is gone: who still sleeps is forgotten, and does not wake. Time can be read on. */
  end(): void {
    for (const sleeper of this.#sleepers) sleeper.timer.abort()
    this.#sleepers.clear()
  }

  #rearm(sleeper: Sleeper): void {
    sleeper.timer.abort()
    sleeper.timer = new AbortController()
    this.#arm(sleeper)
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
