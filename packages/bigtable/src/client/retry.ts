/**
 * Repeats a call until it succeeds, is refused for good, or its time is over.
 *
 * A call with 10 s and a Bigtable that answers UNAVAILABLE: attempt, random pause of up to 5 ms, attempt, pause of up to 10 ms,
 * … up to 640 ms. The pauses are random so that many callers do not return together. An attempt has 2 s; after an attempt that
 * timed out, the next one has twice as long. An attempt that made progress, such as some rows of a long scan, resets pause and time.
 * The final error is the last answer of the server, even if later attempts timed out: an answer such as UNAVAILABLE says more.
 *
 * RY1  No attempt begins after the time is over, even if the machine was suspended during a pause: the caller may write these
 *      rows only for a limited time.
 */
import { CallError, grpcCodes, passingCodes } from './call-error.ts'

export interface Waiting {
  /** Time limit of the first attempt. */
  readonly attemptMs: number
  /** @returns a function that gives the milliseconds since this call, including those in which the machine was suspended */
  stopwatch(): () => number
  sleep(ms: number): Promise<void>
  /** Uniform in [0, 1). */
  random(): number
  /** Called with each answer that leads to a retry. */
  onAnswer?(answer: CallError): void
}

export interface Attempt {
  readonly timeoutMs: number
}

const firstBackoffMs = 5
const lastBackoffMs = 640
export const attemptMs = 2000

/**
 * @param attempt - one call; it calls `progress` after it received something, even if it fails later
 * @throws CallError - the last answer of the server
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
      if (!(error instanceof CallError) || !passingCodes.has(error.code)) throw error
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
      // The machine may have been suspended during the pause (RY1).
      if (passedMs() >= timeoutMs) throw answer ?? error
    }
  }
}
