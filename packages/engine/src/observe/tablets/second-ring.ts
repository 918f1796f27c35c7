/**
 * Figures of the last seconds.
 *
 * SecondRing: the sums of some measures in each second. A second that begins takes the place of the oldest one:
 *
 *   15 slots of 2 measures     second 30 │ 16 │ 17 │ … │ 29       each slot: requests, refused requests
 *
 * LatencyHistogram: durations of requests over 15 seconds, as counts in logarithmic buckets, eight to a doubling (9 % wide).
 *
 * Ours: the buckets. A percentile is the upper end of its bucket, so it is never too low.
 */
import type { RequestsReport } from './report.ts'

const setBackSeconds = 60

export class SecondRing {
  readonly #sums: Float64Array
  readonly #slots: number
  readonly #width: number
  /** The last second written; all slots are of the seconds up to it. */
  #last: number

  constructor(slots: number, width: number, nowMs: number) {
    this.#sums = new Float64Array(slots * width)
    this.#slots = slots
    this.#width = width
    this.#last = Math.floor(nowMs / 1000)
  }

  /** The place of the first measure of an instant, for {@link add}. An instant before all slots counts for the oldest one. */
  at(nowMs: number): number {
    const second = Math.floor(nowMs / 1000)
    if (second > this.#last) this.#pass(second)
    else if (second < this.#last - setBackSeconds) {
      // The clock was set back: all slots lie in the future.
      this.#sums.fill(0)
      this.#last = second
    }
    return (Math.max(second, this.#last - this.#slots + 1) % this.#slots) * this.#width
  }

  /** Empties the slots of the seconds that have begun: a stretch of the ring, and its beginning if the stretch goes round. */
  #pass(second: number): void {
    const passed = Math.min(second - this.#last, this.#slots)
    const first = (second - passed + 1) % this.#slots
    const around = Math.max(0, first + passed - this.#slots)
    this.#sums.fill(0, first * this.#width, (first + passed) * this.#width).fill(0, 0, around * this.#width)
    this.#last = second
  }

  add(place: number, amount: number): void {
    this.#sums[place] = (this.#sums[place] as number) + amount
  }

  /** Adds the sums of a ring of the same form. */
  addAll(nowMs: number, other: SecondRing): void {
    this.at(nowMs)
    other.at(nowMs)
    for (const [place, amount] of other.#sums.entries()) this.add(place, amount)
  }

  slotsOf(spanMs: number): number {
    return Math.min(this.#slots, Math.ceil(spanMs / 1000))
  }

  totals(nowMs: number, spanMs: number): number[] {
    const totals = new Array<number>(this.#width).fill(0)
    const now = Math.floor(nowMs / 1000)
    const oldest = Math.max(now - this.slotsOf(spanMs) + 1, this.#last - this.#slots + 1, 0)
    for (let second = oldest; second <= Math.min(now, this.#last); second++) {
      const place = (second % this.#slots) * this.#width
      for (let i = 0; i < this.#width; i++) totals[i] = (totals[i] as number) + (this.#sums[place + i] as number)
    }
    return totals
  }

  /** {@link totals} a second. @param sinceMs - when counting began: a young ring gives the rate since then, and does not look cold */
  rates(nowMs: number, spanMs: number, sinceMs: number): number[] {
    const seconds = this.seconds(nowMs, spanMs, sinceMs)
    return this.totals(nowMs, spanMs).map((total) => total / seconds)
  }

  /** The seconds that {@link totals} are of; the running one is only partly over. @param sinceMs - when counting began */
  seconds(nowMs: number, spanMs: number, sinceMs: number): number {
    const part = nowMs - Math.floor(nowMs / 1000) * 1000
    return Math.max(1000, Math.min((this.slotsOf(spanMs) - 1) * 1000 + part, nowMs - sinceMs)) / 1000
  }
}

const bucketsPerDoubling = 8
const buckets = 24 * bucketsPerDoubling
/** The lower end of the first bucket, milliseconds. */
const leastMs = 0.01

export class LatencyHistogram {
  /** Requests, refused requests, and a count for each bucket. */
  readonly #ring = new SecondRing(15, 2 + buckets, 0)

  /** @param latencyMs - `undefined` for requests that were refused */
  add(nowMs: number, requests: number, latencyMs: number | undefined): void {
    const place = this.#ring.at(nowMs)
    this.#ring.add(place, requests)
    if (latencyMs === undefined) this.#ring.add(place + 1, requests)
    else {
      const bucket = Math.floor(Math.log2(Math.max(1, latencyMs / leastMs)) * bucketsPerDoubling)
      this.#ring.add(place + 2 + Math.min(buckets - 1, bucket), requests)
    }
  }

  /** Rates over the last seconds, and latencies in milliseconds; 0 without requests. */
  report(nowMs: number, spanMs: number, sinceMs: number): RequestsReport {
    const [requests = 0, refused = 0, ...counts] = this.#ring.totals(nowMs, spanMs)
    const seconds = this.#ring.seconds(nowMs, spanMs, sinceMs)
    return {
      perSecond: requests / seconds,
      rejectedPerSecond: refused / seconds,
      latencyP50Ms: percentile(counts, 0.5),
      latencyP99Ms: percentile(counts, 0.99),
    }
  }
}

function percentile(counts: readonly number[], share: number): number {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return 0
  let sum = 0
  const bucket = counts.findIndex((count) => {
    sum += count
    return sum >= total * share
  })
  return leastMs * 2 ** ((bucket + 1) / bucketsPerDoubling)
}
