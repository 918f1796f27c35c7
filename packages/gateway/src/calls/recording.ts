/**
 * A recording: the calls that a server gets, as lines of JSON, for a file or a stream.
 *
 *   {"format":"sixtables-recording","version":1,"startedAt":"2026-…","values":false}     first
 *   {"ms":12.3,"method":"lookup","project":"demo",…}                                      a call, when it has ended
 *   {"lost":40}                                                                           calls that the reader was too slow for
 *
 * RC1  Lines wait in at most {@link waitingBytesMax} of memory; calls beyond are counted as lost, and the server waits for no reader.
 *      recording.test.ts
 * RC3  A call is put into words once for all readers that take it: their lines differ in `ms` and `transaction`.   recording.test.ts
 * RC2  Without `values` no line has a value of a property or a filter. Keys are always there.     test/contract/recording.test.ts
 */
import type { CallReport, Calls } from './calls.ts'
import { type Line, LineQueue, SharedWords, textOf } from './line-queue.ts'
import { recordedCall, roundedMs } from './recorded-call.ts'

export const recordingFormat = 'sixtables-recording'
export const recordingVersion = 1

/** Maximum size of all lines that the reader has not taken yet, in characters. */
export const waitingBytesMax: number = 16 * 1024 * 1024
/** Open transactions that have a number; the oldest gives way, and gets another one when it is named again. */
const transactionsMax = 10_000

export interface RecordingOptions {
  readonly values: boolean
}

/** The words of a call behind `ms` and `transaction`, with values and without. */
const wordsByCall = { true: new WeakMap<CallReport, SharedWords>(), false: new WeakMap<CallReport, SharedWords>() }

function wordsOf(report: CallReport, values: boolean): SharedWords {
  const kept = wordsByCall[values ? 'true' : 'false']
  let words = kept.get(report)
  if (words === undefined) {
    words = new SharedWords(JSON.stringify(recordedCall(report, values)).slice(1))
    kept.set(report, words)
  }
  return words
}

/** {@link recordLines} as texts. */
export async function* recordedLines(...asked: Parameters<typeof recordLines>): AsyncGenerator<readonly string[]> {
  for await (const lines of recordLines(...asked)) yield lines.map(textOf)
}

/**
 * The lines of a recording in batches; it begins at the first `next()`, whose batch is the header, and ends when the signal aborts, after the
 * last line.
 */
export async function* recordLines(
  calls: Calls,
  { values }: RecordingOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly Line[]> {
  const startedAtMs = performance.now()
  const transactions = new TransactionNumbers()
  const queue = new LineQueue(waitingBytesMax)
  const stop = calls.observe((report) => {
    queue.add(() => {
      const beganAtMs = performance.now() - report.durationMs - startedAtMs
      // A call may have begun before the recording.
      const ms = roundedMs(Math.max(0, beganAtMs))
      const head = JSON.stringify({ ms, transaction: transactions.of(report) })
      return { head: `${head.slice(0, -1)},`, words: wordsOf(report, values) }
    })
  })
  try {
    const startedAt = new Date().toISOString()
    const header = { format: recordingFormat, version: recordingVersion, startedAt, values }
    yield [{ head: '', words: new SharedWords(JSON.stringify(header)) }]
    yield* queue.batches(signal)
  } finally {
    stop()
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
