/**
 * Collects the items of one turn of the event loop, for one call: add(a), add(b), and after the turn send([a, b]).
 */
import type { Scheduler } from '@sixtables/engine'

export class Gathered<T> {
  readonly #clock: Scheduler
  readonly #send: (items: readonly T[]) => void
  #items: T[] = []

  constructor(clock: Scheduler, send: (items: readonly T[]) => void) {
    this.#clock = clock
    this.#send = send
  }

  add(item: T): void {
    this.#items.push(item)
    if (this.#items.length > 1) return
    this.#clock.defer(() => {
      const items = this.#items
      this.#items = []
      this.#send(items)
    })
  }
}
