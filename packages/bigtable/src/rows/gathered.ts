/** Collects the items of one turn of the event loop, for one call: add(a), add(b), and after the turn send([a, b]). */
import type { Scheduler } from '@sixtables/engine'

/** @returns add */
export function gathered<T>(clock: Scheduler, send: (items: readonly T[]) => void): (item: T) => void {
  let items: T[] = []
  return (item) => {
    items.push(item)
    if (items.length > 1) return
    clock.defer(() => {
      const sent = items
      items = []
      send(sent)
    })
  }
}
