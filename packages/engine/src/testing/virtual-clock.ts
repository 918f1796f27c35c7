/**
 * A clock whose time moves only by advance(). Sleepers wake in order of their times; equal times in the order in which they fell
 * asleep. Before the next sleeper wakes, advance() lets the work of the last one run until it waits again. Yielding takes no
 * time, and neither does work under hold().
 */
import { type Scheduler, untilWoken } from '../clock.ts'
import { lowerBound } from '../lower-bound.ts'

interface Sleeper {
  readonly wakesAt: bigint
  isAwake: boolean
  wake(): void
}

/** 2026-01-01T00:00:00Z: the start time of tests that print times. */
export const virtualStartMicros = 1_767_225_600_000_000n

export class VirtualClock implements Scheduler {
  #now: bigint
  /** The last one to wake first. A sleeper that was woken early stays until its time. */
  readonly #sleepers: Sleeper[] = []
  /** Tasks that have yielded and not continued yet. */
  #deferred = 0
  /** Unfinished work outside of this process. */
  readonly #held = new Set<Promise<void>>()

  constructor(startMicros: bigint = virtualStartMicros) {
    this.#now = startMicros
  }

  nowMicros(): bigint {
    return this.#now
  }

  steadyMs(): number {
    return Number(this.#now) / 1000
  }

  defer(task: () => void): void {
    this.#deferred++
    setImmediate(() => {
      this.#deferred--
      task()
    })
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return untilWoken(signal, (wake) => {
      const sleeper: Sleeper = { wakesAt: this.#now + BigInt(Math.round(ms * 1000)), isAwake: false, wake }
      const place = lowerBound(this.#sleepers.length, (at) => (this.#sleepers[at] as Sleeper).wakesAt > sleeper.wakesAt)
      this.#sleepers.splice(place, 0, sleeper)
      return () => {
        sleeper.isAwake = true
      }
    })
  }

  /** Stops time until the promise resolves, for work in another process that takes no time here. It must not reject. */
  hold(work: Promise<void>): void {
    this.#held.add(work)
    void work.then(() => this.#held.delete(work))
  }

  async advance(ms: number): Promise<void> {
    const until = this.#now + BigInt(Math.round(ms * 1000))
    for (;;) {
      const next = this.#sleepers.at(-1)
      if (next === undefined || next.wakesAt > until) break
      this.#sleepers.pop()
      if (next.isAwake) continue
      if (next.wakesAt > this.#now) this.#now = next.wakesAt
      next.wake()
      await this.#settle()
    }
    this.#now = until
    await this.#settle()
  }

  async #settle(): Promise<void> {
    for (;;) {
      do await turn()
      while (this.#deferred > 0)
      if (this.#held.size === 0) return
      await Promise.race(this.#held)
    }
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
