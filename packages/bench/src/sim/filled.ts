/**
 * A store that is filled once and then forked, so that arms which need many entities do not each write them. A fork is a
 * store of its own that begins with the same rows, and costs nothing.
 *
 * FK1  What is filled depends on the numbers alone, with no chance in it: an arm that is run alone finds the same rows.
 */
import { MemoryKv } from '@sixtables/engine/testing'
import { openStore, type Store } from './store.ts'

export interface Filled {
  /** The rows with so many entities, as a store of one's own. */
  fork(count: number): MemoryKv
  /** How long the filling took on its clock: what is opened over a fork begins later. */
  readonly tookMs: number
}

const commitSize = 500
/** The log forgets meanwhile what is older than its retention. */
const pauseMs = 2000
const stepMs = 60_000

/**
 * @param counts - how many entities there are at the moments of the forks; ascending
 * @param put - writes the entities from one number to another, both included
 */
export async function fill(
  counts: readonly number[],
  put: (store: Store, from: number, to: number) => Promise<void>,
): Promise<Filled> {
  const kv = new MemoryKv()
  const store = await openStore({ mode: 'legacy', apply: { type: 'immediate' }, kv })
  const forks = new Map<number, MemoryKv>()
  const client = async (): Promise<void> => {
    let there = 0
    for (const count of counts) {
      for (; there < count; there = Math.min(count, there + commitSize)) {
        await put(store, there + 1, Math.min(count, there + commitSize))
        await store.sleep(pauseMs)
      }
      forks.set(count, kv.fork(kv.snapshot()))
    }
  }
  await store.together([client()], undefined, stepMs)
  const tookMs = store.nowMs
  await store.close()
  return {
    tookMs,
    fork(count) {
      const base = forks.get(count)
      if (base === undefined) throw new Error(`the store was not filled with just ${count} entities`)
      return base.fork(base.snapshot())
    },
  }
}
