/**
 * How fast the machine is now, by what a harness sees without any gateway: a bare call to the Bigtable after each pause of its own timer. A machine
 * that is three times as busy makes each of these three times as slow, and every limit that is counted in them three times as long. While the Bigtable
 * stands still there are none, and no limit passes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { BigtableRows } from '../../src/index.ts'
import { openPatiently } from './fake-client.ts'

const pauseMs = 25
/** What has not happened after so many calls will not: two minutes at least. */
const patience = 4_800

export class Pace {
  readonly #rows: BigtableRows
  readonly #ended: Promise<void>
  #calls = 0
  #slowestMs = 0
  #isClosed = false
  #failure: unknown

  private constructor(rows: BigtableRows) {
    this.#rows = rows
    this.#ended = this.#go().catch((error: unknown) => {
      this.#failure = error
    })
  }

  /** @param address - `host:port` of the Bigtable */
  static async start(address: string, table: string): Promise<Pace> {
    return new Pace(await openPatiently(address, table))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#ended
    await this.#rows.close()
  }

  async #go(): Promise<void> {
    while (!this.#isClosed) {
      const begunMs = performance.now()
      await sleep(pauseMs)
      await this.#rows.readRows(['pace'], [{ family: 'v' }])
      this.#slowestMs = Math.max(this.#slowestMs, performance.now() - begunMs - pauseMs)
      this.#calls++
    }
  }

  /** Does a task. @returns with the slowest call that was under way meanwhile, and how late the timer was before it */
  async during<T>(task: () => Promise<T>): Promise<{ readonly result: T; readonly slowestMs: number }> {
    this.#slowestMs = 0
    const result = await task()
    const calls = this.#calls
    await this.until(() => this.#calls > calls, 'bare call')
    return { result, slowestMs: this.#slowestMs }
  }

  /** Waits until it is so. @throws Error if it is not in the time of {@link patience} calls */
  async until(isSo: () => boolean, what: string): Promise<void> {
    const last = this.#calls + patience
    while (!isSo()) {
      if (this.#failure !== undefined) throw this.#failure
      if (this.#calls > last) throw new Error(`there was no ${what} in the time of ${patience} bare calls`)
      await sleep(1)
    }
  }

  /** Waits for a task as long as {@link until} does. */
  async within<T>(what: string, task: Promise<T>): Promise<T> {
    let isOver = false
    const over = task.finally(() => {
      isOver = true
    })
    return await Promise.race([over, this.until(() => isOver, what).then(() => over)])
  }
}
