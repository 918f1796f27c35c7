/**
 * Looks at clients from time to time, and time counted in looks.
 *
 * LK1  A limit that is counted in looks does not pass while the process stands still or the machine sleeps.   admission.test.ts
 * LK2  What has come from clients before a look is read before it.                                            admission.test.ts
 */
export class Looks {
  readonly everyMs: number
  readonly #look: () => void
  #count = 0
  #timer: NodeJS.Timeout | undefined

  /** @param look - called every `everyMs` milliseconds, between {@link begin} and {@link end} */
  constructor(everyMs: number, look: () => void) {
    this.everyMs = everyMs
    this.#look = look
  }

  /** Looks so far. */
  get count(): number {
    return this.#count
  }

  /** How many looks a time takes. */
  of(ms: number): number {
    return Math.ceil(ms / this.everyMs)
  }

  begin(): void {
    // LK2: a timer that is late rings before sockets are read.
    this.#timer ??= setInterval(() => setImmediate(() => this.#next()), this.everyMs).unref()
  }

  end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #next(): void {
    if (this.#timer === undefined) return
    this.#count++
    this.#look()
  }
}
