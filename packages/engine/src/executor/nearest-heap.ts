/**
 * A bounded heap: it keeps the smallest `size` of the given items, which must differ, with the largest of them on top.
 */
export class NearestHeap<T> {
  readonly #size: number
  readonly #isBefore: (a: T, b: T) => boolean
  readonly #items: T[] = []

  /** @param size - at least 1 */
  constructor(size: number, isBefore: (a: T, b: T) => boolean) {
    this.#size = size
    this.#isBefore = isBefore
  }

  /** The largest kept item, which a smaller one would replace; `undefined` while there is room. */
  get last(): T | undefined {
    return this.#items.length < this.#size ? undefined : this.#items[0]
  }

  add(item: T): void {
    if (this.#items.length < this.#size) this.#rise(item)
    else if (this.#isBefore(item, this.#items[0] as T)) this.#sink(item)
  }

  /** Smallest first. */
  sorted(): T[] {
    return [...this.#items].sort((a, b) => (this.#isBefore(a, b) ? -1 : 1))
  }

  #rise(item: T): void {
    const items = this.#items
    let at = items.length
    while (at > 0) {
      const up = (at - 1) >> 1
      if (!this.#isBefore(items[up] as T, item)) break
      items[at] = items[up] as T
      at = up
    }
    items[at] = item
  }

  #sink(item: T): void {
    const items = this.#items
    let at = 0
    for (;;) {
      let down = 2 * at + 1
      if (down >= items.length) break
      if (down + 1 < items.length && this.#isBefore(items[down] as T, items[down + 1] as T)) down++
      if (!this.#isBefore(item, items[down] as T)) break
      items[at] = items[down] as T
      at = down
    }
    items[at] = item
  }
}
