/**
 * Looks: a regular check of clients, and time limits that are counted in checks. With a look every 5 s, a client may be silent for 6
 * looks, which are 30 s. After the machine has slept for an hour only one look has passed, and data that arrived meanwhile is read
 * before it: no limit passes while the process stands still.
 */
export class Looks {
  readonly everyMs: number
  readonly #look: () => void
  count = 0
  #timer: NodeJS.Timeout | undefined

  /** @param look - called every `everyMs` milliseconds between {@link begin} and {@link end} */
  constructor(everyMs: number, look: () => void) {
    this.everyMs = everyMs
    this.#look = look
  }

  of(ms: number): number {
    return Math.ceil(ms / this.everyMs)
  }

  begin(): void {
    // A late timer fires before sockets are read; an immediate runs after that.
    this.#timer ??= setInterval(() => {
      setImmediate(() => {
        if (this.#timer === undefined) return
        this.count++
        this.#look()
      })
    }, this.everyMs).unref()
  }

  end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
