/**
 * A recording: the calls that a server gets, as lines of JSON, for a file or a stream.
 *
 *   {"format":"sixtables-recording","version":1,"startedAt":"2026-…","values":false}     first
 *   {"ms":12.3,"method":"lookup","project":"demo",…}                                      a call, when it has ended
 *   {"lost":40}                                                                           calls that the reader was too slow for
 *
 * Without `values` no line has a value of a property or a filter; keys are always recorded. Readers share the text of a call: their lines
 * differ in `ms` and `transaction` only. Lines wait in at most {@link waitingBytesMax} of memory; further calls are counted as lost, and the
 * server waits for no reader.
 */
import type { CallReport, Calls } from './calls.ts'
import { type Line, LineQueue, SharedWords, sharedWords, textOf } from './line-queue.ts'
import { recordedCall, roundedMs } from './recorded-call.ts'

export const recordingFormat = 'sixtables-recording'
export const recordingVersion = 1

/** Maximum number of characters in all lines that wait for a reader. */
export const waitingBytesMax: number = 16 * 1024 * 1024
/** Maximum number of open transactions with a number. The oldest loses its number, and gets another one if it is used again. */
const transactionsMax = 10_000

/** The text of a call after `ms` and `transaction`, with values and without. */
const wordsWithValues = sharedWords((report: CallReport) => JSON.stringify(recordedCall(report, true)).slice(1))
const wordsWithout = sharedWords((report: CallReport) => JSON.stringify(recordedCall(report, false)).slice(1))

export async function* recordedLines(...asked: Parameters<typeof recordLines>): AsyncGenerator<readonly string[]> {
  for await (const lines of recordLines(...asked)) yield lines.map(textOf)
}

/**
 * The lines of a recording in batches. It starts at the first `next()`, which gives the header, and ends with the last line after the
 * signal aborts.
 */
export async function* recordLines(
  calls: Calls,
  { values }: { readonly values: boolean },
  signal: AbortSignal,
): AsyncGenerator<readonly Line[]> {
  const startedAtMs = performance.now()
  const numberOf = transactionNumbers()
  const queue = new LineQueue(waitingBytesMax)
  const wordsOf = values ? wordsWithValues : wordsWithout
  const stop = calls.observe((report) => {
    queue.add(() => {
      const beganAtMs = performance.now() - report.durationMs - startedAtMs
      // The call may have begun before the recording.
      const ms = roundedMs(Math.max(0, beganAtMs))
      const head = JSON.stringify({ ms, transaction: numberOf(report) })
      return { head: `${head.slice(0, -1)},`, words: wordsOf(report) }
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

/** Gives numbers to the tokens of open transactions, in the order of their first use. */
function transactionNumbers(): (report: CallReport) => number | undefined {
  const numbers = new Map<string, number>()
  let last = 0
  return ({ facts, code }) => {
    const token = facts?.given?.transaction ?? facts?.asked.transaction
    if (facts === undefined || token === undefined) return undefined
    const name = Buffer.from(token).toString('base64')
    const number = numbers.get(name) ?? ++last
    const isOver = facts.method === 'rollback' || (facts.method === 'commit' && (code === 'OK' || code === 'ABORTED'))
    if (isOver) numbers.delete(name)
    else numbers.set(name, number)
    const [oldest] = numbers.keys()
    if (numbers.size > transactionsMax && oldest !== undefined) numbers.delete(oldest)
    return number
  }
}
