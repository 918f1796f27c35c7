/**
 * Figures of the latest steps of time.
 *
 * StepRing: the sums of some measures in each step. A step that begins takes the place of the oldest one:
 *
 *   15 slots of 1 s, 2 measures     second 30 │ 16 │ 17 │ … │ 29       each slot: requests, refused requests
 *
 * LatencyHistogram: durations of requests over 15 seconds, as counts in logarithmic buckets, eight to a doubling (9 % wide).
 *
 * Ours: the buckets. A percentile is the upper end of its bucket, so it is never too low.
 */
import type { RequestsReport } from './report.ts'

export class StepRing {
  readonly #stepMs: number
  readonly #slots: number
  readonly #width: number
  readonly #sums: Float64Array | Float32Array
  /** The step that each slot is of. */
  readonly #steps: Float64Array

  /** @param sums - of `slots` × `width` numbers */
  constructor(
    stepMs: number,
    slots: number,
    width: number,
    sums: Float64Array | Float32Array = new Float64Array(slots * width),
    steps: Float64Array = new Float64Array(slots).fill(-1),
  ) {
    this.#stepMs = stepMs
    this.#slots = slots
    this.#width = width
    this.#sums = sums
    this.#steps = steps
  }

  /** The first measure's place, for {@link add}. The instant must not lie before all slots: it would empty the slot of a newer step. */
  at(nowMs: number): number {
    const step = Math.floor(nowMs / this.#stepMs)
    const slot = step % this.#slots
    const place = slot * this.#width
    if (this.#steps[slot] !== step) {
      this.#steps[slot] = step
      this.#sums.fill(0, place, place + this.#width)
    }
    return place
  }

  add(place: number, amount: number): void {
    this.#sums[place] = (this.#sums[place] as number) + amount
  }

  /** Adds to the first three measures of an instant. */
  addThree(nowMs: number, first: number, second: number, third: number): void {
    const place = this.at(nowMs)
    this.add(place, first)
    this.add(place + 1, second)
    this.add(place + 2, third)
  }

  /** Adds the sums of a ring of the same form. */
  addAll(other: StepRing): void {
    for (let slot = 0; slot < this.#slots; slot++) {
      const step = other.#steps[slot] as number
      if (step < 0 || step < (this.#steps[slot] as number)) continue
      const first = this.at(step * this.#stepMs)
      for (let place = first; place < first + this.#width; place++) this.add(place, other.#sums[place] as number)
    }
  }

  /** Halves all sums. @returns the other halves */
  halved(): StepRing {
    const sums = this.#sums
    for (let place = 0; place < sums.length; place++) sums[place] = (sums[place] as number) / 2
    return new StepRing(this.#stepMs, this.#slots, this.#width, sums.slice(), this.#steps.slice())
  }

  /** The sum of a measure in a step; 0 if the ring does not have the step. */
  value(step: number, measure: number): number {
    const slot = step % this.#slots
    return this.#steps[slot] === step ? (this.#sums[slot * this.#width + measure] as number) : 0
  }

  slotsOf(spanMs: number): number {
    return Math.min(this.#slots, Math.ceil(spanMs / this.#stepMs))
  }

  totals(nowMs: number, spanMs: number): number[] {
    const totals = new Array<number>(this.#width).fill(0)
    const now = Math.floor(nowMs / this.#stepMs)
    for (let step = Math.max(now - this.slotsOf(spanMs) + 1, 0); step <= now; step++) {
      const slot = step % this.#slots
      for (let i = 0; i < this.#width && this.#steps[slot] === step; i++)
        totals[i] = (totals[i] as number) + (this.#sums[slot * this.#width + i] as number)
    }
    return totals
  }

  /** {@link totals} a second. @param sinceMs - when counting began: a young ring gives the rate since then, and does not look cold */
  rates(nowMs: number, spanMs: number, sinceMs: number): number[] {
    const seconds = this.seconds(nowMs, spanMs, sinceMs)
    return this.totals(nowMs, spanMs).map((total) => total / seconds)
  }

  /** The seconds that {@link totals} are of; the running step is only partly over. @param sinceMs - when counting began */
  seconds(nowMs: number, spanMs: number, sinceMs: number): number {
    const stepMs = this.#stepMs
    const part = nowMs - Math.floor(nowMs / stepMs) * stepMs
    return Math.max(stepMs, Math.min((this.slotsOf(spanMs) - 1) * stepMs + part, nowMs - sinceMs)) / 1000
  }
}

const bucketsPerDoubling = 8
const buckets = 24 * bucketsPerDoubling
/** The lower end of the first bucket, milliseconds. */
const leastMs = 0.01

export class LatencyHistogram {
  /** Requests, refused requests, and a count for each bucket. */
  readonly #ring = new StepRing(1_000, 15, 2 + buckets)

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
