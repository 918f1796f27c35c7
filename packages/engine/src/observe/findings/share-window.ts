/**
 * The share of the latest events that had something about them: two generations of `size` events, of which the older is
 * dropped when the newer is full, so that a habit given up is forgotten after at most twice as many events.
 *
 * V1  It speaks of the last `size` to 2 × `size` events, or of all there were.    share-window.test.ts
 */
export class ShareWindow {
  readonly #size: number
  #events = 0
  #hits = 0
  #eventsBefore = 0
  #hitsBefore = 0
  /** Hits since the beginning. */
  hitsEver = 0

  constructor(size: number) {
    this.#size = size
  }

  add(isHit: boolean): void {
    if (this.#events === this.#size) {
      this.#eventsBefore = this.#events
      this.#hitsBefore = this.#hits
      this.#events = 0
      this.#hits = 0
    }
    this.#events++
    if (!isHit) return
    this.#hits++
    this.hitsEver++
  }

  get events(): number {
    return this.#events + this.#eventsBefore
  }

  get hits(): number {
    return this.#hits + this.#hitsBefore
  }

  /** 0 without events. */
  get share(): number {
    return this.events === 0 ? 0 : this.hits / this.events
  }
}
