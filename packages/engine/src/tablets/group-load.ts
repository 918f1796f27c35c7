/**
 * Entity groups under load: commits, conflicts and waits of the busiest ones.
 *
 * GL1  Memory is bounded: with too many groups those with the least load are forgotten.
 */
import { LoadWindow } from './window.ts'

const groupsMax = 512

interface GroupCounts {
  /** Reads: conflicts; writes: commits; bytes: waits. */
  readonly window: LoadWindow
  total: number
}

/** Told of commits that met others at a group. */
export interface Contention {
  /** They wait for their turn, or for a lock. */
  waited(groups: readonly string[], weight: number): void
  /** They ended with ABORTED. */
  conflicted(groups: readonly string[], weight: number): void
}

export interface GroupRates {
  readonly group: string
  readonly commits: number
  readonly conflicts: number
  readonly waits: number
}

export class GroupLoad {
  readonly #groups = new Map<string, GroupCounts>()

  committed(group: string, nowMs: number, weight: number): void {
    this.#note(group, nowMs, weight, 0, 0)
  }

  conflicted(group: string, nowMs: number, weight: number): void {
    this.#note(group, nowMs, 0, weight, 0)
  }

  waited(group: string, nowMs: number, weight: number): void {
    this.#note(group, nowMs, 0, 0, weight)
  }

  clear(): void {
    this.#groups.clear()
  }

  /** The busiest groups, those with conflicts first. */
  busiest(nowMs: number, spanMs: number, limit: number): readonly GroupRates[] {
    const rates: GroupRates[] = []
    for (const [group, { window }] of this.#groups) {
      const { reads, writes, bytes } = window.rates(nowMs, spanMs)
      if (reads + writes + bytes > 0) rates.push({ group, commits: writes, conflicts: reads, waits: bytes })
    }
    const contention = ({ conflicts, waits }: GroupRates): number => conflicts + waits
    rates.sort((a, b) => contention(b) - contention(a) || b.commits - a.commits || (a.group < b.group ? -1 : 1))
    return rates.slice(0, limit)
  }

  #note(group: string, nowMs: number, commits: number, conflicts: number, waits: number): void {
    let counts = this.#groups.get(group)
    if (counts === undefined) {
      if (this.#groups.size >= groupsMax) this.#forget(nowMs)
      counts = { window: new LoadWindow(nowMs), total: 0 }
      this.#groups.set(group, counts)
    }
    counts.total += commits + conflicts + waits
    counts.window.add(nowMs, conflicts, commits, waits)
  }

  #forget(nowMs: number): void {
    const loads = [...this.#groups].map(([group, { window }]) => {
      const { reads, writes, bytes } = window.rates(nowMs, 60_000)
      return { group, load: reads + writes + bytes }
    })
    loads.sort((a, b) => a.load - b.load)
    for (const { group } of loads.slice(0, groupsMax / 2)) this.#groups.delete(group)
  }
}
