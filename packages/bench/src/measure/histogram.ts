/**
 * A histogram of durations. Its buckets grow by 5 %, so a few hundred of them give any quantile within 2.5 %: 100 ms are reported as
 * 97.5 to 102.5. A duration has a weight, because one simulated operation may represent many.
 */
const growth = Math.log(1.05)
/** Shorter durations share one bucket. */
const leastMs = 0.001

export class Histogram {
  readonly #buckets: number[] = []
  #weight = 0
  #max = 0

  add(ms: number, weight = 1): void {
    const bucket = ms <= leastMs ? 0 : Math.ceil(Math.log(ms / leastMs) / growth)
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + weight
    this.#weight += weight
    if (ms > this.#max) this.#max = ms
  }

  get weight(): number {
    return this.#weight
  }

  get max(): number {
    return this.#max
  }

  /** The duration that the given share of all durations (0 to 1) does not exceed; 0 if nothing was counted. */
  quantile(share: number): number {
    let left = this.#weight * share
    for (const [bucket, weight = 0] of this.#buckets.entries()) {
      left -= weight
      if (left <= 0 && weight > 0)
        return Math.min(this.#max, bucket === 0 ? leastMs : leastMs * Math.exp(growth * bucket))
    }
    return this.#max
  }
}
