/**
 * The load of the last minute: reads, writes and bytes in slots of a second. A window that is younger than the span gives the
 * rate since it was opened, so that a young tablet does not look cold.
 */

const slots = 60

export interface Load {
  reads: number
  writes: number
  bytes: number
}

export class LoadWindow {
  readonly #reads = new Float64Array(slots)
  readonly #writes = new Float64Array(slots)
  readonly #bytes = new Float64Array(slots)
  readonly #openedMs: number
  /** The last second written; all slots are of the minute up to it. */
  #second: number

  constructor(nowMs: number) {
    this.#openedMs = nowMs
    this.#second = Math.floor(nowMs / 1000)
  }

  add(nowMs: number, reads: number, writes: number, bytes: number): void {
    const slot = this.#slotOf(Math.floor(nowMs / 1000))
    this.#reads[slot] = (this.#reads[slot] as number) + reads
    this.#writes[slot] = (this.#writes[slot] as number) + writes
    this.#bytes[slot] = (this.#bytes[slot] as number) + bytes
  }

  /** Adds the load of another window, for a merge. */
  addAll(nowMs: number, other: LoadWindow): void {
    this.#slotOf(Math.floor(nowMs / 1000))
    other.#slotOf(Math.floor(nowMs / 1000))
    for (let i = 0; i < slots; i++) {
      this.#reads[i] = (this.#reads[i] as number) + (other.#reads[i] as number)
      this.#writes[i] = (this.#writes[i] as number) + (other.#writes[i] as number)
      this.#bytes[i] = (this.#bytes[i] as number) + (other.#bytes[i] as number)
    }
  }

  /** Operations and bytes a second over the last `spanMs`. */
  rates(nowMs: number, spanMs: number): Load {
    const now = Math.floor(nowMs / 1000)
    const count = Math.min(slots, Math.ceil(spanMs / 1000))
    const load: Load = { reads: 0, writes: 0, bytes: 0 }
    for (
      let second = Math.max(now - count + 1, this.#second - slots + 1);
      second <= Math.min(now, this.#second);
      second++
    ) {
      const slot = modulo(second)
      load.reads += this.#reads[slot] as number
      load.writes += this.#writes[slot] as number
      load.bytes += this.#bytes[slot] as number
    }
    // The running second is only partly over.
    const span = Math.max(1000, Math.min((count - 1) * 1000 + (nowMs - now * 1000), nowMs - this.#openedMs))
    load.reads /= span / 1000
    load.writes /= span / 1000
    load.bytes /= span / 1000
    return load
  }

  #slotOf(second: number): number {
    if (second <= this.#second) return modulo(Math.max(second, this.#second - slots + 1))
    // The slots of the seconds that have passed: a stretch of the ring, and its beginning if the stretch goes round.
    const first = modulo(Math.max(this.#second + 1, second - slots + 1))
    const end = first + Math.min(second - this.#second, slots)
    for (const ring of [this.#reads, this.#writes, this.#bytes])
      ring.fill(0, first, end).fill(0, 0, Math.max(0, end - slots))
    this.#second = second
    return modulo(second)
  }
}

function modulo(second: number): number {
  return second % slots
}
