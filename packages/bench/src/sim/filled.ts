/**
 * A store that is filled once and then forked, for arms that need many entities: `fork(100_000)` is a store of its own with the first
 * 100,000 entities, and costs nothing. Entities depend on their numbers alone, never on chance: an arm that runs alone finds
 * the same rows as one that runs after others.
 */
import { MemoryKv } from '@sixtables/engine/testing'
import { openStore, type Store } from './store.ts'

export interface Filled {
  /** A separate store with the first `count` entities. */
  fork(count: number): MemoryKv
  /** Duration of the filling on its clock; a store over a fork must be opened at a later time. */
  readonly tookMs: number
}

const commitSize = 500
/** Pause between writes, in which the log forgets records older than its retention. */
const pauseMs = 2000
const stepMs = 60_000

/**
 * @param counts - sizes of the forks; ascending
 * @param put - writes the entities of a range of numbers, both ends included
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
