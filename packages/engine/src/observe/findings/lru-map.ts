/** A bounded LRU map: above `max` entries, the least recently used one is removed. */
export class LruMap<T> extends Map<string, T> {
  readonly #max: number
  readonly #make: (key: string) => T

  constructor(max: number, make: (key: string) => T) {
    super()
    this.#max = max
    this.#make = make
  }

  /** The entry of a key, created if missing; it becomes the most recently used. */
  of(key: string): T {
    const state = this.get(key) ?? this.#make(key)
    // A key that is set again keeps its place in a Map unless it was deleted.
    if (!this.delete(key) && this.size >= this.#max) {
      const [oldest] = this.keys()
      if (oldest !== undefined) this.delete(oldest)
    }
    this.set(key, state)
    return state
  }
}
