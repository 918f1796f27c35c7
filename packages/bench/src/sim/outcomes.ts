/** The outcomes of a load's operations in an interval. */
import { Histogram } from '../measure/histogram.ts'

/** Counts of operations; one that represents 200 counts as 200. */
export class Outcomes {
  readonly latency: Histogram = new Histogram()
  served = 0
  refused = 0
  /** Served lookups that found no entity. */
  missing = 0

  clear(): void {
    this.latency.clear()
    this.served = 0
    this.refused = 0
    this.missing = 0
  }
}
