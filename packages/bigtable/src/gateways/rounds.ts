/** Work that begins after each call of it, and that callers share who wait at the same time: it runs once at a time. */
export class Rounds<T> {
  readonly #work: () => Promise<T>
  #running: Promise<unknown> = Promise.resolve()
  #next: Promise<T> | undefined

  constructor(work: () => Promise<T>) {
    this.#work = work
  }

  /** The result of a run that begins after the call. */
  next(): Promise<T> {
    this.#next ??= this.#running.then(() => {
      this.#next = undefined
      const run = this.#work()
      this.#running = run.catch(() => {})
      return run
    })
    return this.#next
  }
}
