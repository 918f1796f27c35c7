/** Runs of work that callers share. */
import { getOrInsert } from '@sixtables/engine/store'

/** A run that callers share who come while it lasts: the first one begins it. */
export function shareRun<K, T>(running: Map<K, Promise<T>>, name: K, run: () => Promise<T>): Promise<T> {
  return getOrInsert(running, name, () => run().finally(() => running.delete(name)))
}

/** Work that begins after each call of it, and that callers share who wait at the same time: it runs once at a time. */
export class Rounds<T> {
  readonly #work: () => Promise<T>
  #running: Promise<unknown> = Promise.resolve()
  #next: Promise<T> | undefined
  readonly #joins: boolean

  /** @param joins - whether a caller gets the run that is under way; for a test (switched-off.ts) */
  constructor(work: () => Promise<T>, joins: boolean) {
    this.#work = work
    this.#joins = joins
  }

  /** The result of a run that begins after the call. */
  next(): Promise<T> {
    this.#next ??= this.#running.then(() => {
      const begun = (): void => {
        this.#next = undefined
      }
      if (!this.#joins) begun()
      const run = this.#work()
      const ended = this.#joins ? begun : () => {}
      this.#running = run.then(ended, ended)
      return run
    })
    return this.#next
  }
}
