/**
 * The calls of a recording on an endless time line: a recording of 60 s begins again at 60 s, 120 s and so on.
 *
 * TL1  Over any whole number of rounds, each call comes equally often.      timeline.test.ts
 */
import type { RecordedCall } from './read-recording.ts'

/** Shortest length of a round: a recording with one call plays it once a second. */
const lengthMsMin = 1000

/** A call, and the number of whole rounds before it. */
export interface Turn {
  readonly call: RecordedCall
  readonly pass: number
}

export class Timeline {
  readonly #calls: readonly RecordedCall[]
  readonly #startMs: number
  /** Length of a round in milliseconds: up to the last call, plus the mean pause between calls. */
  readonly lengthMs: number

  /** @param calls - in the order in which they began; at least one */
  constructor(calls: readonly RecordedCall[]) {
    this.#calls = calls
    this.#startMs = calls[0]?.ms ?? 0
    const spanMs = (calls.at(-1)?.ms ?? 0) - this.#startMs
    this.lengthMs = Math.max(lengthMsMin, spanMs + spanMs / Math.max(1, calls.length - 1))
  }

  get perSecond(): number {
    return (this.#calls.length * 1000) / this.lengthMs
  }

  /** Number of calls from one moment (included) to another (excluded). */
  count(fromMs: number, toMs: number): number {
    return this.#before(toMs) - this.#before(fromMs)
  }

  /** The call at a position, 0 to 1, among those of a time span; `undefined` if there are none. */
  at(fromMs: number, toMs: number, share: number): Turn | undefined {
    const count = this.count(fromMs, toMs)
    if (count === 0) return undefined
    const number = this.#before(fromMs) + Math.min(count - 1, Math.floor(share * count))
    const call = this.#calls[number % this.#calls.length]
    return call && { call, pass: Math.floor(number / this.#calls.length) }
  }

  #before(ms: number): number {
    const rounds = Math.floor(ms / this.lengthMs)
    const atMs = this.#startMs + (ms - rounds * this.lengthMs)
    let [low, high] = [0, this.#calls.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#calls[middle]?.ms ?? 0) < atMs) low = middle + 1
      else high = middle
    }
    return rounds * this.#calls.length + low
  }
}
