/**
 * Collects the items of one turn of the event loop, for one call: add(a), add(b), and after the turn send([a, b]); and divides what is too much
 * for one call.
 */
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

/** Items in parts that keep to all limits, each with a measure of an item. An item that is above a limit alone is a part of its own. */
export function* partsOf<T>(
  items: Iterable<T>,
  limits: readonly { readonly most: number; of(item: T): number }[],
): Generator<readonly T[]> {
  let part: T[] = []
  const sums = limits.map(() => 0)
  for (const item of items) {
    if (part.length > 0 && limits.some((limit, i) => (sums[i] ?? 0) + limit.of(item) > limit.most)) {
      yield part
      part = []
      sums.fill(0)
    }
    part.push(item)
    for (const [i, limit] of limits.entries()) sums[i] = (sums[i] ?? 0) + limit.of(item)
  }
  if (part.length > 0) yield part
}
