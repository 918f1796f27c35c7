/** Time that passes only while it is slept through. */
import { seededRandom } from '@sixtables/engine'
import type { Waiting } from '../../src/client/retry.ts'

export class SleptTime implements Waiting {
  readonly slept: number[] = []
  readonly #random = seededRandom(5)
  #now = 0

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
