/**
 * A recording: the calls that a server gets, as lines of JSON, for a file or a stream.
 *
 *   {"format":"sixtables-recording","version":1,"startedAt":"2026-…","values":false}     first
 *   {"ms":12.3,"method":"lookup","project":"demo",…}                                      a call, when it has ended
 *   {"lost":40}                                                                           calls that the reader was too slow for
 *
 * RC1  Lines wait in at most {@link waitingBytesMax} of memory; calls beyond are counted as lost, and the server waits for no reader.
 *      recording.test.ts
 * RC2  Without `values` no line has a value of a property or a filter. Keys are always there.     test/contract/recording.test.ts
 */
import type { CallReport, Calls } from './calls.ts'
import { recordedCall } from './recorded-call.ts'

export const recordingFormat = 'sixtables-recording'
export const recordingVersion = 1

/** Maximum size of all lines that the reader has not taken yet, in characters. */
export const waitingBytesMax: number = 16 * 1024 * 1024
/** A reader gets an empty batch after so long a silence: a sign of life. */
const silenceMs = 15_000
/** Open transactions that have a number; the oldest gives way, and gets another one when it is named again. */
const transactionsMax = 10_000

export interface RecordingOptions {
  readonly values: boolean
}

/**
 * The lines of a recording in batches; it begins at the first `next()`, whose batch is the header, and ends when the signal aborts, after the
 * last line.
 */
export async function* recordedLines(
  calls: Calls,
  { values }: RecordingOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const recording = new Recording(values)
  const stop = calls.observe((report) => recording.add(report))
  const wake = (): void => recording.wake()
  signal.addEventListener('abort', wake)
  try {
    const startedAt = new Date().toISOString()
    yield [JSON.stringify({ format: recordingFormat, version: recordingVersion, startedAt, values })]
    while (!signal.aborted) {
      await recording.waiting()
      yield recording.take()
    }
    // The lines since the batch before.
    yield recording.take()
  } finally {
    stop()
    signal.removeEventListener('abort', wake)
  }
}

class Recording {
  readonly #values: boolean
  readonly #startedAtMs = performance.now()
  readonly #transactions = new TransactionNumbers()
  #lines: string[] = []
  #characters = 0
  #lost = 0
  #wake: (() => void) | undefined

  constructor(values: boolean) {
    this.#values = values
  }

  add(report: CallReport): void {
    if (this.#characters >= waitingBytesMax) {
      this.#lost++
      return
    }
    const beganAtMs = performance.now() - report.durationMs - this.#startedAtMs
    const call = recordedCall(report, {
      // A call may have begun before the recording.
      ms: Math.max(0, beganAtMs),
      transaction: this.#transactions.of(report),
      values: this.#values,
    })
    const line = JSON.stringify(call)
    this.#lines.push(line)
    this.#characters += line.length
    this.wake()
  }

  /** Resolves when there is a line, {@link wake} is called, or nothing came for {@link silenceMs}. */
  waiting(): Promise<void> {
    if (this.#lines.length > 0) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.wake(), silenceMs)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  wake(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  take(): readonly string[] {
    const lines = this.#lost === 0 ? this.#lines : [...this.#lines, JSON.stringify({ lost: this.#lost })]
    this.#lines = []
    this.#characters = 0
    this.#lost = 0
    return lines
  }
}

/** Numbers for the tokens of open transactions, in the order in which they are met. */
class TransactionNumbers {
  readonly #numbers = new Map<string, number>()
  #last = 0

  of({ facts, code }: CallReport): number | undefined {
    const token = facts?.given?.transaction ?? facts?.asked.transaction
    if (facts === undefined || token === undefined) return undefined
    const name = Buffer.from(token).toString('base64')
    const number = this.#numbers.get(name) ?? ++this.#last
    const isOver = facts.method === 'rollback' || (facts.method === 'commit' && (code === 'OK' || code === 'ABORTED'))
    if (isOver) this.#numbers.delete(name)
    else this.#numbers.set(name, number)
    const [oldest] = this.#numbers.keys()
    if (this.#numbers.size > transactionsMax && oldest !== undefined) this.#numbers.delete(oldest)
    return number
  }
}
