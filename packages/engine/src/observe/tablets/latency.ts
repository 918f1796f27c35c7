/**
 * Durations of requests: counts in logarithmic buckets, eight to a doubling (9 % wide), in slots of a second.
 *
 * Ours: the buckets. A percentile is the upper end of its bucket, so it is never too low.
 */
const bucketsPerDoubling = 8
const buckets = 24 * bucketsPerDoubling
/** The lower end of the first bucket, milliseconds. */
const leastMs = 0.01
const slots = 16

export class LatencyHistogram {
  readonly #counts: Float32Array[] = Array.from({ length: slots }, () => new Float32Array(buckets))
  readonly #requests = new Float64Array(slots)
  readonly #refused = new Float64Array(slots)
  #second = -1

  /** @param latencyMs - `undefined` for requests that were refused */
  add(nowMs: number, requests: number, latencyMs: number | undefined): void {
    const slot = this.#slot(nowMs)
    this.#requests[slot] = (this.#requests[slot] as number) + requests
    if (latencyMs === undefined) {
      this.#refused[slot] = (this.#refused[slot] as number) + requests
      return
    }
    const counts = this.#counts[slot] as Float32Array
    const bucket =
      latencyMs <= leastMs ? 0 : Math.min(buckets - 1, Math.floor(Math.log2(latencyMs / leastMs) * bucketsPerDoubling))
    counts[bucket] = (counts[bucket] as number) + requests
  }

  /** Rates over the last seconds, and latencies in milliseconds; 0 without requests. */
  report(
    nowMs: number,
    spanMs: number,
    sinceMs: number,
  ): { perSecond: number; refusedPerSecond: number; p50: number; p99: number } {
    this.#slot(nowMs)
    const count = Math.min(slots - 1, Math.ceil(spanMs / 1000))
    const sum = new Float64Array(buckets)
    let [requests, refused, total] = [0, 0, 0]
    for (let second = this.#second - count + 1; second <= this.#second; second++) {
      if (second < 0) continue
      const slot = second % slots
      requests += this.#requests[slot] as number
      refused += this.#refused[slot] as number
      const counts = this.#counts[slot] as Float32Array
      for (let i = 0; i < buckets; i++) {
        sum[i] = (sum[i] as number) + (counts[i] as number)
        total += counts[i] as number
      }
    }
    const part = nowMs - Math.floor(nowMs / 1000) * 1000
    const span = Math.max(1, Math.min(count - 1 + part / 1000, (nowMs - sinceMs) / 1000))
    return {
      perSecond: requests / span,
      refusedPerSecond: refused / span,
      p50: percentile(sum, total, 0.5),
      p99: percentile(sum, total, 0.99),
    }
  }

  #slot(nowMs: number): number {
    const second = Math.floor(nowMs / 1000)
    // The clock was set back: the known slots lie in the future.
    if (second < this.#second - 60) this.#second = second - slots
    if (second > this.#second) {
      for (let gone = Math.max(this.#second + 1, second - slots + 1); gone <= second; gone++) {
        this.#counts[gone % slots]?.fill(0)
        this.#requests[gone % slots] = 0
        this.#refused[gone % slots] = 0
      }
      this.#second = second
    }
    return this.#second % slots
  }
}

function percentile(counts: Float64Array, total: number, share: number): number {
  if (total === 0) return 0
  let sum = 0
  for (let i = 0; i < buckets; i++) {
    sum += counts[i] as number
    if (sum >= total * share) return leastMs * 2 ** ((i + 1) / bucketsPerDoubling)
  }
  return leastMs * 2 ** (buckets / bucketsPerDoubling)
}
