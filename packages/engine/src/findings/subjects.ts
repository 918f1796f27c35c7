/**
 * A map of so many subjects at most: the one that was not spoken of for longest gives way.
 *
 * M1  It never holds more than `max` subjects, whatever clients send.    subjects.test.ts
 */
export class Subjects<T> {
  readonly #subjects = new Map<string, T>()
  readonly #max: number
  readonly #make: (subject: string) => T
  /** The one that was spoken of last: mostly it is the next again. */
  #latest: string | undefined

  constructor(max: number, make: (subject: string) => T) {
    this.#max = max
    this.#make = make
  }

  /** The state of a subject, new if it has none, and the last to give way from now on. */
  of(subject: string): T {
    let state = this.#subjects.get(subject)
    if (state !== undefined && subject === this.#latest) return state
    this.#latest = subject
    if (state === undefined) {
      if (this.#subjects.size >= this.#max) {
        const [oldest] = this.#subjects.keys()
        if (oldest !== undefined) this.#subjects.delete(oldest)
      }
      state = this.#make(subject)
    } else this.#subjects.delete(subject)
    this.#subjects.set(subject, state)
    return state
  }

  find(subject: string): T | undefined {
    return this.#subjects.get(subject)
  }

  entries(): IterableIterator<[string, T]> {
    return this.#subjects.entries()
  }

  clear(): void {
    this.#subjects.clear()
    this.#latest = undefined
  }
}
