/**
 * Calls to the store for many items, so many at a time: a commit to 20,000 groups sends the conditional writes of some groups together, and
 * other calls of the process run in between.
 */
import type { RequestContext } from '@sixtables/engine'
import { forEachInSlices } from '@sixtables/engine/store'

/**
 * Runs `step` for each item, so many at a time, started in order, and yields between them while started steps continue.
 *
 * @param context - not that of a caller that may leave: started steps are waited for
 * @returns all results, in the order of the items
 */
export async function allInSlices<T, U>(
  context: RequestContext,
  items: readonly T[],
  atOnce: number,
  workOf: (item: T) => number,
  step: (item: T) => Promise<U>,
): Promise<readonly U[]> {
  const begun: Promise<U>[] = []
  let running = 0
  let ended = (): void => {}
  await forEachInSlices(context, items, workOf, (item) => {
    running++
    const one = step(item).finally(() => {
      running--
      ended()
    })
    // It may fail before the last step has started; the result then fails too.
    one.catch(() => {})
    begun.push(one)
    if (running < atOnce) return
    return new Promise<void>((resolve) => {
      ended = resolve
    })
  })
  return await Promise.all(begun)
}
