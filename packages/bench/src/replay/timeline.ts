/**
 * The calls of a recording on an endless time line: after its end comes the next pass of the recording.
 *
 * TL1  Over any whole number of its lengths, each call comes equally often.      timeline.test.ts
 */
import type { RecordedCall } from './read-recording.ts'

/** The shortest recording; a single call comes once a second. */
const lengthMsMin = 1000

/** A call, and how often the recording was over before it. */
export interface Turn {
  readonly call: RecordedCall
  readonly pass: number
}

export class Timeline {
  readonly #calls: readonly RecordedCall[]
  readonly #startMs: number
  /** Length of one round in milliseconds: up to the last call, and the mean pause after it. */
  readonly lengthMs: number

  /** @param calls - in the order in which they began; at least one */
  constructor(calls: readonly RecordedCall[]) {
    this.#calls = calls
    this.#startMs = calls[0]?.ms ?? 0
    const spanMs = (calls.at(-1)?.ms ?? 0) - this.#startMs
    this.lengthMs = Math.max(lengthMsMin, spanMs + spanMs / Math.max(1, calls.length - 1))
  }

  /** Calls a second, over a whole round. */
  get perSecond(): number {
    return (this.#calls.length * 1000) / this.lengthMs
  }

  /** How many calls there are from one moment, included, to another. */
  count(fromMs: number, toMs: number): number {
    return this.#before(toMs) - this.#before(fromMs)
  }

  /** The call at a place, 0 to 1, among those of a time span; `undefined` where there is none. */
  at(fromMs: number, toMs: number, share: number): Turn | undefined {
    const count = this.count(fromMs, toMs)
    if (count === 0) return undefined
    const number = this.#before(fromMs) + Math.min(count - 1, Math.floor(share * count))
    const call = this.#calls[number % this.#calls.length]
    return call && { call, pass: Math.floor(number / this.#calls.length) }
  }

  /** Calls before a moment. */
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
