/** Time that passes only while it is slept through. */
import { seededRandom } from '@sixtables/engine'
import { attemptMs, type Waiting } from '../../src/client/retry.ts'

export class SleptTime implements Waiting {
  readonly attemptMs: number
  readonly slept: number[] = []
  readonly #random = seededRandom(5)
  #now = 0

  constructor(ms = attemptMs) {
    this.attemptMs = ms
  }

  stopwatch(): () => number {
    const start = this.#now
    return () => this.#now - start
  }

  async sleep(ms: number): Promise<void> {
    this.slept.push(ms)
    this.#now += ms
  }

  random(): number {
    return this.#random.next()
  }
}
