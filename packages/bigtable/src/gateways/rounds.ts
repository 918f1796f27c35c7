/** Runs of work that callers share. */
import { getOrInsert } from '@sixtables/engine/store'

/** A run that callers share who come while it lasts: the first one begins it. */
export function shareRun<K, T>(running: Map<K, Promise<T>>, name: K, run: () => Promise<T>): Promise<T> {
  return getOrInsert(running, name, () => run().finally(() => running.delete(name)))
}

/** Work that begins after each call of it, and that callers share who wait at the same time: it runs once at a time. */
export function inRounds<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | undefined
  return () => {
    next ??= running.then(() => {
      next = undefined
      const run = work()
      running = run.catch(() => {})
      return run
    })
    return next
  }
}
