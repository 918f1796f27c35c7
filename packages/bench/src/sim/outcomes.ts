/** The outcomes of a load, counted over an interval. */
import { Histogram } from '../measure/histogram.ts'

/** What became of the operations of an interval; weights counted. */
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
