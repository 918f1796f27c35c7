/** A bounded LRU map: above `max` entries, the least recently used one is removed. */
export class LruMap<T> extends Map<string, T> {
  readonly #max: number
  readonly #make: (key: string) => T
  #newest: string | undefined

  constructor(max: number, make: (key: string) => T) {
    super()
    this.#max = max
    this.#make = make
  }

  /** The entry of a key, created if missing; it becomes the most recently used. */
  of(key: string): T {
    const known = this.get(key)
    // Mostly: a Map makes a new table when its only key is deleted and set.
    if (known !== undefined && key === this.#newest) return known
    this.#newest = key
    const state = known ?? this.#make(key)
    // A key that is set again keeps its place in a Map unless it was deleted.
    if (!this.delete(key) && this.size >= this.#max) {
      const [oldest] = this.keys()
      if (oldest !== undefined) this.delete(oldest)
    }
    this.set(key, state)
    return state
  }
}
