/**
 * Repeats a call until it succeeds, is refused for good, or its time is over.
 *
 * RY1  Between attempts lies a random time up to 5, 10, 20 … 640 ms: attempts of many callers spread over the whole span.
 * RY2  An attempt has at most 2 s, or what the caller says; the one after an attempt that ran out of time has twice as much.
 * RY3  An attempt that brought something sets both back: a long answer needs no attempt that is as long.
 * RY4  No attempt begins after the time is over, also if the machine was suspended meanwhile: a caller may send rows only for so long.
 * RY5  The error is the last answer. An attempt that ran out of time has none, and the last one may have had no time left.
 */
import { CallError, grpcCodes, isPassing } from './call-error.ts'

/** Time and chance, passed in. */
export interface Waiting {
  /** How long the first attempt may take. */
  readonly attemptMs: number
  /** @returns what tells the milliseconds since this call, suspensions of the machine among them */
  stopwatch(): () => number
  sleep(ms: number): Promise<void>
  /** Uniform in [0, 1). */
  random(): number
  /** Hears of each answer after which the call is repeated. */
  onAnswer?(answer: CallError): void
}

export interface Attempt {
  /** Milliseconds that it may take. */
  readonly timeoutMs: number
}

const firstBackoffMs = 5
const lastBackoffMs = 640
export const attemptMs = 2000

/**
 * @param attempt - one call; calls `progress` when it brought something, also if it fails then
 * @throws CallError (RY5)
 */
export async function withRetries<T>(
  waiting: Waiting,
  timeoutMs: number,
  attempt: (attempt: Attempt, progress: () => void) => Promise<T>,
): Promise<T> {
  const passedMs = waiting.stopwatch()
  let backoff = firstBackoffMs
  let patience = waiting.attemptMs
  let answer: CallError | undefined
  for (;;) {
    let progressed = false
    const left = timeoutMs - passedMs()
    try {
      return await attempt({ timeoutMs: Math.max(1, Math.min(patience, left)) }, () => {
        progressed = true
      })
    } catch (error) {
      if (!(error instanceof CallError) || !isPassing(error.code)) throw error
      if (progressed) {
        backoff = firstBackoffMs
        patience = waiting.attemptMs
      } else if (error.code === grpcCodes.DEADLINE_EXCEEDED) patience *= 2
      if (error.code !== grpcCodes.DEADLINE_EXCEEDED) {
        answer = error
        waiting.onAnswer?.(error)
      }
      const pause = waiting.random() * backoff
      if (passedMs() + pause >= timeoutMs) throw answer ?? error
      backoff = Math.min(backoff * 2, lastBackoffMs)
      await waiting.sleep(pause)
      // RY4
      if (passedMs() >= timeoutMs) throw answer ?? error
    }
  }
}
