/** What a run of kills came to. */
import type { Told } from './load.ts'

export class Figures {
  kills = 0
  stops = 0
  #commits = 0
  #aborted = 0
  #unknown = 0
  #reads = 0
  /** How long strong reads took right before a fault, and of those that were sent at once after it. */
  readonly #beforeMs: number[] = []
  readonly #afterMs: number[] = []

  get faults(): number {
    return this.kills + this.stops
  }

  noteReads(beforeMs: number, afterMs: number): void {
    this.#beforeMs.push(beforeMs)
    this.#afterMs.push(afterMs)
  }

  /** A table is verified. */
  add({ acknowledged, aborted, bank }: Told): void {
    this.#commits += acknowledged
    this.#aborted += aborted
    this.#unknown += bank.unknownCount
    this.#reads += bank.readCount
  }

  /** How much longer the longest strong read after a fault took than the longest before one, which other work on the machine delays too. */
  get delayMs(): number {
    return Math.max(...this.#afterMs) - Math.max(...this.#beforeMs)
  }

  get progress(): string {
    const reads = `strong reads before them ${spread(this.#beforeMs)}, at once after them ${spread(this.#afterMs)}`
    return `${this.kills} kills, ${this.stops} stops; ${reads}`
  }

  toString(): string {
    const clients = `${this.#commits} commits, ${this.#aborted} aborted, ${this.#unknown} transfers without an answer`
    return `${this.progress}; ${clients}, ${this.#reads} reads of the bank`
  }
}

function spread(ms: readonly number[]): string {
  const sorted = ms.toSorted((a, b) => a - b)
  const at = (part: number): number =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`
}
