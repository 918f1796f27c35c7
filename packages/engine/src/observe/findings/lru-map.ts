/** A bounded LRU map: above `max` entries, the least recently used one is removed. */
export class LruMap<T> {
  readonly #entries = new Map<string, T>()
  readonly #max: number
  readonly #make: (key: string) => T

  constructor(max: number, make: (key: string) => T) {
    this.#max = max
    this.#make = make
  }

  /** The entry of a key, created if missing; it becomes the most recently used. */
  of(key: string): T {
    let state = this.#entries.get(key)
    if (state === undefined) {
      if (this.#entries.size >= this.#max) {
        const [oldest] = this.#entries.keys()
        if (oldest !== undefined) this.#entries.delete(oldest)
      }
      state = this.#make(key)
    } else this.#entries.delete(key)
    this.#entries.set(key, state)
    return state
  }

  find(key: string): T | undefined {
    return this.#entries.get(key)
  }

  entries(): IterableIterator<[string, T]> {
    return this.#entries.entries()
  }
}
