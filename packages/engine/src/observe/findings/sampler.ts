/**
 * Picks items out of many, so that the picks stand for all: each item while a budget lasts, which fills up with time; then one after
 * a random number of others, for which it stands.
 *
 *   entities written    1  2  3 | 4  5  6  7  8  9  10 …      budget 3, then one of about 4
 *   picked, stands for  1  1  1 |          4        3
 *
 * An item is picked by its place alone, whatever call it came with: commits of 500 entities weigh as 500 commits of one do.
 *
 * SA1  The numbers that picks stand for add up to the items before and at the last pick.       sampler.test.ts
 */
import type { Random } from '../../random.ts'

export interface SamplerOptions {
  /** Items that are all picked at first, and how many more a second. */
  readonly exactly: number
  readonly exactlyPerSecond: number
  /** One of so many of the others is picked, on average. */
  readonly every: number
}

/** Milliseconds without a pick after which the next item is picked, if there is budget. */
const restMs = 250

export class Sampler {
  readonly #options: SamplerOptions
  readonly #random: Random
  /** Items until the next pick, itself included, and how many it will stand for. */
  #left = 1
  #standsFor = 1
  #budget: number
  #filledMs = 0
  #pickedMs = 0

  constructor(options: SamplerOptions, random: Random) {
    this.#options = options
    this.#random = random
    this.#budget = options.exactly
  }

  /** Whether none of the next items is picked: they are counted. Otherwise {@link pick} is called for each of them. */
  passes(items: number, nowMs: number = this.#filledMs): boolean {
    this.#fill(nowMs)
    if (this.#left > 1 && this.#budget >= 1 && nowMs - this.#pickedMs >= restMs) {
      this.#standsFor -= this.#left - 1
      this.#left = 1
    }
    if (this.#left <= items) return false
    this.#left -= items
    return true
  }

  /** Counts an item. @returns how many items it stands for; 0 = it is not picked */
  pick(): number {
    if (--this.#left > 0) return 0
    const standsFor = this.#standsFor
    this.#pickedMs = this.#filledMs
    if (this.#budget >= 1) this.#budget--
    this.#left = this.#budget >= 1 ? 1 : 1 + this.#random.integer(2 * this.#options.every - 1)
    this.#standsFor = this.#left
    return standsFor
  }

  #fill(nowMs: number): void {
    const { exactly, exactlyPerSecond } = this.#options
    if (nowMs <= this.#filledMs) return
    this.#budget = Math.min(exactly, this.#budget + ((nowMs - this.#filledMs) * exactlyPerSecond) / 1000)
    this.#filledMs = nowMs
  }
}
