/**
 * Time that moves only when told to.
 *
 * C1  Sleepers wake in the order of their times; equal times in the order in which they fell asleep.
 * C2  advance() lets what each sleeper started run until it waits again, before the next one wakes.
 */
import type { Scheduler } from '../clock.ts'

interface Sleeper {
  readonly wakesAt: bigint
  wake(): void
}

/** 2026-01-01T00:00:00Z: a moment for tests that print times. */
export const virtualStartMicros = 1_767_225_600_000_000n

export class VirtualClock implements Scheduler {
  #now: bigint
  #sleepers: Sleeper[] = []

  constructor(startMicros: bigint = virtualStartMicros) {
    this.#now = startMicros
  }

  nowMicros(): bigint {
    return this.#now
  }

  defer(task: () => void): void {
    setImmediate(task)
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      const sleeper: Sleeper = { wakesAt: this.#now + BigInt(Math.round(ms * 1000)), wake: resolve }
      this.#sleepers.push(sleeper)
      signal?.addEventListener(
        'abort',
        () => {
          this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
          reject(signal.reason)
        },
        { once: true },
      )
    })
  }

  /** Moves time on by `ms`, waking who sleeps until then. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + BigInt(Math.round(ms * 1000))
    for (;;) {
      let next: Sleeper | undefined
      for (const sleeper of this.#sleepers) {
        if (sleeper.wakesAt <= until && (next === undefined || sleeper.wakesAt < next.wakesAt)) next = sleeper
      }
      if (next === undefined) break
      const woken = next
      this.#sleepers = this.#sleepers.filter((other) => other !== woken)
      if (woken.wakesAt > this.#now) this.#now = woken.wakesAt
      woken.wake()
      await turn()
    }
    this.#now = until
    await turn()
  }
}

/** Lets everything run that does not wait for time. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
}
