/**
 * Lines for one reader, which takes them in batches. The server never waits for a reader: waiting lines have a limit, lines beyond it are only
 * counted, and the reader gets their number, `{"lost": 40}`. A line is a short head for this reader and a text that all readers share.
 */

import { Readers } from './readers.ts'

export class SharedWords {
  readonly text: string
  #bytes: Buffer | undefined

  constructor(text: string) {
    this.text = text
  }

  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(this.text)
    return this.#bytes
  }
}

/** Makes the text of an object once. */
export function sharedWords<T extends object>(textOf: (of: T) => string): (of: T) => SharedWords {
  const kept = new WeakMap<T, SharedWords>()
  return (of) => {
    const words = kept.get(of) ?? new SharedWords(textOf(of))
    kept.set(of, words)
    return words
  }
}

export interface Line {
  readonly head: string
  readonly words: SharedWords
}

export function textOf({ head, words }: Line): string {
  return head + words.text
}

/** After this time without lines a reader gets an empty batch as a sign of life. */
export const silenceMs = 15_000

export class LineQueue {
  readonly #charactersMax: number
  #lines: Line[] = []
  #characters = 0
  #lost = 0
  readonly #readers = new Readers()

  /** @param charactersMax - limit for all waiting lines; the last one may exceed it */
  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax
  }

  get isFull(): boolean {
    return this.#characters >= this.#charactersMax
  }

  lose(): void {
    this.#lost++
  }

  add(make: () => Line): void {
    if (this.isFull) {
      this.lose()
      return
    }
    const line = make()
    this.#lines.push(line)
    this.#characters += line.head.length + line.words.text.length
    this.#readers.wake()
  }

  /** Batches of lines as they arrive; the last ones when the signal aborts. An empty batch is a sign of life. */
  async *batches(signal: AbortSignal): AsyncGenerator<readonly Line[]> {
    while (!signal.aborted) {
      if (this.#lines.length === 0) await this.#readers.next(signal, silenceMs)
      yield this.#take()
    }
    yield this.#take()
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
