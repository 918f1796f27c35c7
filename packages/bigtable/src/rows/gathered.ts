/**
 * Gathers what is asked for in one turn of the event loop, so that it goes in one call.
 *
 *   add(item) ─▶ the items of the turn ─▶ send(items), once the turn is over
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
