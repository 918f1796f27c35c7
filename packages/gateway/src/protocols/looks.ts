/**
 * Regular looks at clients, and time limits that are counted in looks: 30 s are 6 looks of 5 s. Data that clients sent before a look is read
 * before it. So a limit does not pass while the process stands still or the machine sleeps.
 */
export class Looks {
  readonly everyMs: number
  readonly #look: () => void
  #count = 0
  #timer: NodeJS.Timeout | undefined

  /** @param look - called every `everyMs` milliseconds between {@link begin} and {@link end} */
  constructor(everyMs: number, look: () => void) {
    this.everyMs = everyMs
    this.#look = look
  }

  get count(): number {
    return this.#count
  }

  /** Number of looks in a time. */
  of(ms: number): number {
    return Math.ceil(ms / this.everyMs)
  }

  begin(): void {
    // A late timer fires before sockets are read; an immediate runs after that.
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
