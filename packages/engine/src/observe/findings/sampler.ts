/**
 * Picks a sample of items that stands for all of them: every item while a budget lasts, which refills with time; then one item
 * after a random number of others, for all of which it stands.
 *
 *   entities written    1  2  3 | 4  5  6  7  8  9  10 …      budget 3, then one of about 4
 *   picked, stands for  1  1  1 |          4        3
 *
 * The numbers add up to the items up to the last pick. Calls make no difference: a commit of 500 entities weighs as much as 500
 * commits of one.
 */
import type { Random } from '../../random.ts'

export interface SamplerOptions {
  /** Items that are all picked at first, and the refill per second. */
  readonly exactly: number
  readonly exactlyPerSecond: number
  /** After the budget, one of this many items is picked, on average. */
  readonly every: number
}

/** After this time without a pick (milliseconds), the next item is picked if there is budget. */
const restMs = 250

export class Sampler {
  readonly #options: SamplerOptions
  readonly #random: Random
  /** Items until the next pick, including it, and the number that it will stand for. */
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

  /** Whether none of the next items is picked; they are then counted. Otherwise call {@link pick} for each. */
  passes(items: number, nowMs: number = this.#filledMs): boolean {
    const { exactly, exactlyPerSecond } = this.#options
    if (nowMs > this.#filledMs) {
      this.#budget = Math.min(exactly, this.#budget + ((nowMs - this.#filledMs) * exactlyPerSecond) / 1000)
      this.#filledMs = nowMs
    }
    if (this.#left > 1 && this.#budget >= 1 && nowMs - this.#pickedMs >= restMs) {
      this.#standsFor -= this.#left - 1
      this.#left = 1
    }
    if (this.#left <= items) return false
    this.#left -= items
    return true
  }

  /** Counts an item. @returns the number of items that it stands for; 0 = not picked */
  pick(): number {
    if (--this.#left > 0) return 0
    const standsFor = this.#standsFor
    this.#pickedMs = this.#filledMs
    if (this.#budget >= 1) this.#budget--
    this.#left = this.#budget >= 1 ? 1 : 1 + this.#random.integer(2 * this.#options.every - 1)
    this.#standsFor = this.#left
    return standsFor
  }
}
