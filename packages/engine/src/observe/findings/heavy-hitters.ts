/**
 * The most frequent names of a stream, in bounded memory.
 *
 * Known: the Space-Saving algorithm (Metwally, Agrawal, El Abbadi 2005). With room for 2, after a a b: {a: 2, b: 1}. A new name
 * c replaces b, the rarest, and continues its count: {a: 2, c: 2, error 1}. So count − error ≤ true count ≤ count, and a name
 * with more than 1/`size` of all events is always present.
 */
export interface Hitter {
  readonly name: string
  readonly count: number
  readonly error: number
}

export class HeavyHitters {
  readonly #size: number
  readonly #names = new Map<string, { count: number; error: number }>()
  /** The names with the least count at the last search, the next victim last; a name whose count has grown since is skipped. */
  #rarest: string[] = []
  #least = 0
  /** Sum of the counts added, and number of calls. */
  total = 0
  events = 0

  constructor(size: number) {
    this.#size = size
  }

  /** @param count - the number of events that this one stands for */
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

  /** Counts only grow, so after one search all names with the least count can be replaced without another. */
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
