/** The outcomes of a load, counted over an interval. */
import { Histogram } from '../measure/histogram.ts'

/** The outcomes of the operations of an interval, by weight. */
export class Outcomes {
  readonly latency: Histogram = new Histogram()
  served = 0
  refused = 0
  /** Lookups, of those served, that found no entity. */
  missing = 0

  clear(): void {
    this.latency.clear()
    this.served = 0
    this.refused = 0
    this.missing = 0
  }
}
