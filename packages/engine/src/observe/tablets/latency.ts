/**
 * Durations of requests over the last 15 seconds: counts in logarithmic buckets, eight to a doubling (9 % wide).
 *
 * Ours: the buckets. A percentile is the upper end of its bucket, so it is never too low.
 */
import { SecondRing } from './second-ring.ts'

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
    this.#ring.add(place + (latencyMs === undefined ? 1 : 2 + bucketOf(latencyMs)), requests)
  }

  /** Rates over the last seconds, and latencies in milliseconds; 0 without requests. */
  report(
    nowMs: number,
    spanMs: number,
    sinceMs: number,
  ): { perSecond: number; refusedPerSecond: number; p50: number; p99: number } {
    const [requests = 0, refused = 0, ...counts] = this.#ring.totals(nowMs, spanMs)
    const seconds = this.#ring.seconds(nowMs, spanMs, sinceMs)
    return {
      perSecond: requests / seconds,
      refusedPerSecond: refused / seconds,
      p50: percentile(counts, 0.5),
      p99: percentile(counts, 0.99),
    }
  }
}

function bucketOf(latencyMs: number): number {
  if (latencyMs <= leastMs) return 0
  return Math.min(buckets - 1, Math.floor(Math.log2(latencyMs / leastMs) * bucketsPerDoubling))
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
