/** What a run of kills came to. */
import { loadavg } from 'node:os'
import type { TimedRead, Told } from './load.ts'

/** A fault, and the strong reads of what the clients write, right before it and at once after it. */
interface Fault {
  readonly kind: 'kills' | 'stops'
  readonly gateway: number
  /** Commits that were sent and not answered. */
  readonly underWay: number
  readonly before: readonly TimedRead[]
  readonly after: readonly TimedRead[]
}

/** The longest that a strong read after a fault may take. */
const lateAfterMs = 1_000

export class Figures {
  kills = 0
  stops = 0
  /** Strong reads after a fault that took too long. */
  readonly late: string[] = []
  readonly #underWay: number[] = []
  readonly #beforeMs: number[] = []
  readonly #afterMs: number[] = []
  #commits = 0
  #aborted = 0
  #unanswered = 0
  #reads = 0

  get faults(): number {
    return this.kills + this.stops
  }

  note({ kind, gateway, underWay, before, after }: Fault): void {
    this[kind]++
    this.#underWay.push(underWay)
    this.#beforeMs.push(...before.map(({ ms }) => ms))
    this.#afterMs.push(...after.map(({ ms }) => ms))
    for (const { what, ms } of after) {
      if (ms <= lateAfterMs) continue
      const usual = before.find((read) => read.what === what)?.ms ?? 0
      const fault = `the ${kind === 'kills' ? 'kill' : 'stop'} of gateway ${gateway} (fault ${this.faults})`
      const load = `load of the machine ${loadavg()[0]?.toFixed(1)}`
      this.late.push(
        `${what} took ${Math.round(ms)} ms after ${fault}, ${Math.round(usual)} ms before it; ${underWay} commits were under way, ${load}`,
      )
    }
  }

  /** A table is verified. */
  add({ acknowledged, aborted, unanswered, bank }: Told): void {
    this.#commits += acknowledged
    this.#aborted += aborted
    this.#unanswered += unanswered
    this.#reads += bank.readCount
  }

  get progress(): string {
    const total = this.#underWay.reduce((sum, one) => sum + one, 0)
    const reads = `strong reads before: ${spread(this.#beforeMs)}; at once after: ${spread(this.#afterMs)}`
    const late = this.late.length === 0 ? 'none late' : `${this.late.length} late, at last ${this.late.at(-1)}`
    return `${this.faults} faults (${this.kills} kills, ${this.stops} stops), ${total} commits under way at them; ${reads}; ${late}`
  }

  toString(): string {
    const clients = `${this.#commits} commits, ${this.#aborted} aborted, ${this.#unanswered} without an answer`
    return `${this.progress}; ${clients}, ${this.#reads} reads of the bank`
  }
}

function spread(ms: readonly number[]): string {
  if (ms.length === 0) return 'none'
  const sorted = ms.toSorted((a, b) => a - b)
  const at = (part: number): number =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0)
  return `${ms.length}, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`
}
