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
  /** Those that had the least count when it was last looked for, the next to go last; of them only who still has it goes. */
  #rarest: string[] = []
  #least = 0
  /** Sum of what was added, and how many times something was. */
  total = 0
  events = 0

  constructor(size: number) {
    this.#size = size
  }

  /** @param count - how many events this one stands for */
  add(name: string, count = 1): void {
    this.total += count
    this.events++
    const known = this.#names.get(name)
    if (known !== undefined) {
      known.count += count
      return
    }
    if (this.#names.size < this.#size) {
      this.#names.set(name, { count, error: 0 })
      return
    }
    this.#names.delete(this.#nextRarest())
    this.#names.set(name, { count: this.#least + count, error: this.#least })
  }

  /** Counts only grow: after one look through all names, all those with the least count can go without another. */
  #nextRarest(): string {
    for (let rarest = this.#rarest.pop(); rarest !== undefined; rarest = this.#rarest.pop()) {
      if (this.#names.get(rarest)?.count === this.#least) return rarest
    }
    this.#least = Math.min(...Array.from(this.#names.values(), ({ count }) => count))
    for (const [name, { count }] of this.#names) if (count === this.#least) this.#rarest.push(name)
    return this.#rarest.reverse().pop() ?? ''
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
    this.#rarest = []
    this.total = 0
    this.events = 0
  }
}
