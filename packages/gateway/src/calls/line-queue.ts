/**
 * Lines for one reader, who takes them in batches when it can.
 *
 * LQ1  Lines wait in a bounded memory; those beyond are counted and the reader is told of their number, `{"lost": 40}`. The server
 *      waits for no reader.                                                              recording.test.ts: recording/RC1
 */

/** A reader gets an empty batch after so long a silence: a sign of life. */
export const silenceMs = 15_000

export class LineQueue {
  readonly #charactersMax: number
  #lines: string[] = []
  #characters = 0
  #lost = 0
  #wake: (() => void) | undefined

  /** @param charactersMax - of all lines that wait; the last may go beyond it */
  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax
  }

  /** @param make - makes the line; not called when there is no room for it */
  add(make: () => string): void {
    if (this.#characters >= this.#charactersMax) {
      this.#lost++
      return
    }
    const line = make()
    this.#lines.push(line)
    this.#characters += line.length
    this.#wakeUp()
  }

  /** The lines as they come, the last ones when the signal aborts. An empty batch is a sign of life. */
  async *batches(signal: AbortSignal): AsyncGenerator<readonly string[]> {
    const wake = (): void => this.#wakeUp()
    signal.addEventListener('abort', wake)
    try {
      while (!signal.aborted) {
        await this.#waiting()
        yield this.#take()
      }
      yield this.#take()
    } finally {
      signal.removeEventListener('abort', wake)
    }
  }

  /** Resolves when there is a line, {@link #wakeUp} is called, or nothing came for {@link silenceMs}. */
  #waiting(): Promise<void> {
    if (this.#lines.length > 0) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wakeUp(), silenceMs)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #wakeUp(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  #take(): readonly string[] {
    const lines = this.#lost === 0 ? this.#lines : [...this.#lines, JSON.stringify({ lost: this.#lost })]
    this.#lines = []
    this.#characters = 0
    this.#lost = 0
    return lines
  }
}
