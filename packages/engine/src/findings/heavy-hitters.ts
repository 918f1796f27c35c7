/**
 * Which of many names come up most, in bounded memory.
 *
 * Known: the Space-Saving algorithm (Metwally, Agrawal, El Abbadi 2005): a new name takes the place of the rarest and its
 * count, so a count is too high by at most the count that was taken over.
 *
 * H1  A name with more than 1/`size` of all events is there.             heavy-hitters.test.ts
 * H2  count − error ≤ true count ≤ count.                                 heavy-hitters.test.ts
 */
export interface Hitter {
  readonly name: string
  readonly count: number
  readonly error: number
}

export class HeavyHitters {
  readonly #size: number
  readonly #names = new Map<string, { count: number; error: number }>()
  total = 0

  constructor(size: number) {
    this.#size = size
  }

  add(name: string): void {
    this.total++
    const known = this.#names.get(name)
    if (known !== undefined) {
      known.count++
      return
    }
    if (this.#names.size < this.#size) {
      this.#names.set(name, { count: 1, error: 0 })
      return
    }
    let rarest: string | undefined
    let least = Number.POSITIVE_INFINITY
    for (const [candidate, { count }] of this.#names) {
      if (count >= least) continue
      rarest = candidate
      least = count
    }
    if (rarest !== undefined) this.#names.delete(rarest)
    this.#names.set(name, { count: least + 1, error: least })
  }

  /** The names, the most frequent first. */
  top(count: number): readonly Hitter[] {
    return [...this.#names]
      .map(([name, hits]) => ({ name, ...hits }))
      .sort((a, b) => b.count - a.count)
      .slice(0, count)
  }

  clear(): void {
    this.#names.clear()
    this.total = 0
  }
}
