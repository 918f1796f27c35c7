/**
 * Lines for one reader, who takes them in batches when it can.
 *
 * LQ1  Lines wait in a bounded memory; those beyond are counted and the reader is told of their number, `{"lost": 40}`. The server
 *      waits for no reader.                                                              recording.test.ts: recording/RC1
 *
 * A long line is put into words once for all readers: each has a head of its own before words that they share.
 */

/** Words that several readers may be sent. */
export class SharedWords {
  readonly text: string
  #bytes: Buffer | undefined

  constructor(text: string) {
    this.text = text
  }

  /** The same as they are sent. */
  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(this.text)
    return this.#bytes
  }
}

export interface Line {
  readonly head: string
  readonly words: SharedWords
}

export function textOf({ head, words }: Line): string {
  return head + words.text
}

/** A reader gets an empty batch after so long a silence: a sign of life. */
export const silenceMs = 15_000

export class LineQueue {
  readonly #charactersMax: number
  #lines: Line[] = []
  #characters = 0
  #lost = 0
  #wake: (() => void) | undefined

  /** @param charactersMax - of all lines that wait; the last may go beyond it */
  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax
  }

  /** @param make - makes the line; not called when there is no room for it */
  add(make: () => Line): void {
    if (this.#characters >= this.#charactersMax) {
      this.#lost++
      return
    }
    const line = make()
    this.#lines.push(line)
    this.#characters += line.head.length + line.words.text.length
    this.#wakeUp()
  }

  /** The lines as they come, the last ones when the signal aborts. An empty batch is a sign of life. */
  async *batches(signal: AbortSignal): AsyncGenerator<readonly Line[]> {
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

  #take(): readonly Line[] {
    const lost = { head: '', words: new SharedWords(JSON.stringify({ lost: this.#lost })) }
    const lines = this.#lost === 0 ? this.#lines : [...this.#lines, lost]
    this.#lines = []
    this.#characters = 0
    this.#lost = 0
    return lines
  }
}
