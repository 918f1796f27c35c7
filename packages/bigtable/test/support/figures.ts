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
  /** The slowest bare call meanwhile (pace.ts). */
  readonly slowestMs: number
}

/** A strong read waits so long at most for commits of a gateway that is gone (src/gateways/resolve.ts), */
const waitMs = 500
/**
 * and needs at most so many calls one after the other beside it: 8 to close its moment, with rows that must be raised or grown, 12 to decide,
 * apply and strike out what is left, half of them twice where another gateway does the same, and 4 for its entities.
 */
const callsMax = 30

export class Figures {
  kills = 0
  stops = 0
  /** Times for which the Bigtable stood still. */
  silences = 0
  /** Faults in the midst of a change of the number of clock rows. */
  duringChanges = 0
  /** Strong reads after a fault that took too long. */
  readonly late: string[] = []
  readonly #underWay: number[] = []
  readonly #beforeMs: number[] = []
  readonly #afterMs: number[] = []
  readonly #slowestMs: number[] = []
  /** As many bare calls a read after a fault took beside its wait. */
  #mostCalls = 0
  #commits = 0
  #aborted = 0
  #unanswered = 0
  #reads = 0

  get faults(): number {
    return this.kills + this.stops + this.silences
  }

  note({ kind, gateway, underWay, before, after, slowestMs }: Fault): void {
    this[kind]++
    this.#underWay.push(underWay)
    this.#beforeMs.push(...before.map(({ ms }) => ms))
    this.#afterMs.push(...after.map(({ ms }) => ms))
    this.#slowestMs.push(slowestMs)
    const longestMs = Math.max(0, ...after.map(({ ms }) => ms))
    this.#mostCalls = Math.max(this.#mostCalls, (longestMs - waitMs) / slowestMs)
    const limitMs = waitMs + callsMax * slowestMs
    for (const { what, ms } of after) {
      if (ms <= limitMs) continue
      const usual = before.find((read) => read.what === what)?.ms ?? 0
      const fault = `the ${kind === 'kills' ? 'kill' : 'stop'} of gateway ${gateway} (fault ${this.faults})`
      const load = `load of the machine ${loadavg()[0]?.toFixed(1)}`
      this.late.push(
        `${what} took ${Math.round(ms)} ms after ${fault}, ${Math.round(usual)} ms before it and at most ${Math.round(limitMs)} ms allowed; ${underWay} commits were under way, ${load}`,
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
    const reads = `strong reads before: ${spread(this.#beforeMs)}; at once after: ${spread(this.#afterMs)}; slowest bare calls: ${spread(this.#slowestMs)}, reads took ${waitMs} ms and ${this.#mostCalls.toFixed(1)} of ${callsMax} of these at most`
    const late = this.late.length === 0 ? 'none late' : `${this.late.length} late, at last ${this.late.at(-1)}`
    return `${this.faults} faults (${this.kills} kills, ${this.stops} stops; ${this.duringChanges} while clock rows changed), ${total} commits under way at them; ${reads}; ${late}`
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
