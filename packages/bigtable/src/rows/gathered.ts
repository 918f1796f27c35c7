/**
 * Collects the items of one turn of the event loop, for one call: add(a), add(b), and after the turn send([a, b]).
 */
export class Gathered<T> {
  readonly #defer: (task: () => void) => void
  readonly #send: (items: readonly T[]) => void
  #items: T[] = []

  constructor(defer: (task: () => void) => void, send: (items: readonly T[]) => void) {
    this.#defer = defer
    this.#send = send
  }

  add(item: T): void {
    this.#items.push(item)
    if (this.#items.length > 1) return
    this.#defer(() => {
      const items = this.#items
      this.#items = []
      this.#send(items)
    })
  }
}
