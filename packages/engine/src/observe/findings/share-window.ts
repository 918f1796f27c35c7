/**
 * The share of hits among the last `size` to 2 × `size` events, or among all if there are fewer. It has two generations of
 * `size` events; when the newer one is full, the older one is dropped.
 */
export class ShareWindow {
  readonly #size: number
  #events = 0
  #hits = 0
  #eventsBefore = 0
  #hitsBefore = 0
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

  get share(): number {
    return this.events === 0 ? 0 : this.hits / this.events
  }
}
