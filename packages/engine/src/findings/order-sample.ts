/**
 * Where new codes land among the latest ones: how one sees that keys or values come in order, without keeping them all.
 *
 *   sorted sample of the last `size` distinct codes     …  k17  k18  k19 │ k20        "follows": next to one of the latest 8
 *                                                                    a new one        "tops": among the highest, or lowest, 8
 *
 * Several clients that each count up, names like Customer9 and Customer10, and instants a little out of order all follow.
 * Codes that are spread land next to one of the latest 8 with a chance of 16 in `size`.
 *
 * O1  It holds at most `size` codes, and each at most once.     order-sample.test.ts
 */
export interface Landing {
  /** Right before or after one of the latest codes. */
  readonly follows: boolean
  /** Among the highest codes, or among the lowest. */
  readonly tops: boolean
}

const sampleSize = 256
const near = 8

export class OrderSample {
  #sorted: string[] = []
  /** In the order of arrival; the oldest gives way. */
  #arrivals: string[] = []
  #next = 0

  get size(): number {
    return this.#sorted.length
  }

  /** Whether most codes of the sample come after this one. */
  isMostlyAbove(code: string): boolean {
    return this.#placeOf(code) * 2 < this.#sorted.length
  }

  /** @returns `undefined` for a code that is in the sample already */
  add(code: string): Landing | undefined {
    const place = this.#placeOf(code)
    if (this.#sorted[place] === code) return undefined
    const before = this.#sorted[place - 1]
    const after = this.#sorted[place]
    const follows = this.#isRecent(before) || this.#isRecent(after)
    const tops = place >= this.#sorted.length - near || place <= near
    this.#sorted.splice(place, 0, code)
    const oldest = this.#arrivals[this.#next]
    this.#arrivals[this.#next] = code
    this.#next = (this.#next + 1) % sampleSize
    if (oldest !== undefined) this.#sorted.splice(this.#placeOf(oldest), 1)
    return { follows, tops }
  }

  #isRecent(code: string | undefined): boolean {
    if (code === undefined) return false
    for (let back = 1; back <= near; back++) {
      if (this.#arrivals[(this.#next - back + sampleSize) % sampleSize] === code) return true
    }
    return false
  }

  /** The first place whose code is not below `code`. */
  #placeOf(code: string): number {
    let low = 0
    let high = this.#sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#sorted[middle] ?? '') < code) low = middle + 1
      else high = middle
    }
    return low
  }
}
