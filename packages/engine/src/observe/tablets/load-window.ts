/**
 * The load of the last minute: reads, writes and bytes. A window that is younger than the span gives the rate since it was
 * opened, so that a young tablet does not look cold.
 */
import { SecondRing } from './second-ring.ts'

export interface Load {
  readonly reads: number
  readonly writes: number
  readonly bytes: number
}

export class LoadWindow {
  readonly #ring: SecondRing
  readonly #openedMs: number

  constructor(nowMs: number) {
    this.#ring = new SecondRing(60, 3, nowMs)
    this.#openedMs = nowMs
  }

  add(nowMs: number, reads: number, writes: number, bytes: number): void {
    const place = this.#ring.at(nowMs)
    this.#ring.add(place, reads)
    this.#ring.add(place + 1, writes)
    this.#ring.add(place + 2, bytes)
  }

  /** Adds the load of another window, for a merge. */
  addAll(nowMs: number, other: LoadWindow): void {
    this.#ring.addAll(nowMs, other.#ring)
  }

  /** Operations and bytes a second over the last `spanMs`. */
  rates(nowMs: number, spanMs: number): Load {
    const [reads = 0, writes = 0, bytes = 0] = this.#ring.totals(nowMs, spanMs)
    const seconds = this.#ring.seconds(nowMs, spanMs, this.#openedMs)
    return { reads: reads / seconds, writes: writes / seconds, bytes: bytes / seconds }
  }
}
