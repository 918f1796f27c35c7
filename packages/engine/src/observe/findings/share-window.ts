/**
 * The share of hits among the last `size` to 2 × `size` events, or among all if there are fewer. It has two generations of
 * `size` events; when the newer one is full, the older one is dropped.
 */
export class ShareWindow {
  readonly #size: number
  #now = { events: 0, hits: 0 }
  #before = { events: 0, hits: 0 }
  hitsEver = 0

  constructor(size: number) {
    this.#size = size
  }

  add(isHit: boolean): void {
    if (this.#now.events === this.#size) {
      this.#before = this.#now
      this.#now = { events: 0, hits: 0 }
    }
    this.#now.events++
    if (!isHit) return
    this.#now.hits++
    this.hitsEver++
  }

  get events(): number {
    return this.#now.events + this.#before.events
  }

  get hits(): number {
    return this.#now.hits + this.#before.hits
  }

  get share(): number {
    return this.events === 0 ? 0 : this.hits / this.events
  }
}
