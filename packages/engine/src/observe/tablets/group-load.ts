/**
 * Load of entity groups: commits, conflicts and waits of the busiest ones.
 *
 *   User:"ada"   12 commits, 3 conflicts and 5 waits in a second
 *
 * Memory is bounded: with too many groups, those with the least load are forgotten. One commit may be a sample that stands for
 * many, so a group is reported from its second commit, or its first conflict or wait, on. Commits of a group with conflicts or
 * waits are then counted one by one. The weight of an operation does not count: it stands for many clients, each with its own
 * group.
 */
import { SecondRing } from './second-ring.ts'

const groupsMax = 512
/** Rates are over the whole span, also of a new group: a few commits in its first second are no rate. */
const always = Number.NEGATIVE_INFINITY

interface GroupCounts {
  /** Commits, conflicts and waits of the last minute. */
  readonly window: SecondRing
  notes: number
  isTroubled: boolean
}

export interface GroupRates {
  readonly group: string
  readonly commits: number
  readonly conflicts: number
  readonly waits: number
}

export class GroupLoad {
  readonly #groups = new Map<string, GroupCounts>()
  /** Groups with conflicts or waits; if there are any, {@link committed} must be called for each commit. */
  troubled = 0

  /** Notes a sampled commit. @param count - the number of commits of this group that it stands for */
  sampled(group: string, nowMs: number, count: number): void {
    if (this.#groups.get(group)?.isTroubled !== true) this.#note(group, nowMs, count, 0, 0)
  }

  committed(group: string, nowMs: number): void {
    if (this.#groups.get(group)?.isTroubled) this.#note(group, nowMs, 1, 0, 0)
  }

  conflicted(group: string, nowMs: number): void {
    this.#trouble(this.#note(group, nowMs, 0, 1, 0))
  }

  waited(group: string, nowMs: number): void {
    this.#trouble(this.#note(group, nowMs, 0, 0, 1))
  }

  clear(): void {
    this.#groups.clear()
    this.troubled = 0
  }

  #trouble(counts: GroupCounts): void {
    if (!counts.isTroubled) this.troubled++
    counts.isTroubled = true
  }

  /** The busiest groups, those with conflicts first. */
  busiest(nowMs: number, spanMs: number, limit: number): readonly GroupRates[] {
    const rates: GroupRates[] = []
    for (const [group, { window, notes }] of this.#groups) {
      const [commits = 0, conflicts = 0, waits = 0] = window.rates(nowMs, spanMs, always)
      if (conflicts + waits > 0 || (commits > 0 && notes > 1)) rates.push({ group, commits, conflicts, waits })
    }
    const contention = ({ conflicts, waits }: GroupRates): number => conflicts + waits
    rates.sort((a, b) => contention(b) - contention(a) || b.commits - a.commits || (a.group < b.group ? -1 : 1))
    return rates.slice(0, limit)
  }

  #note(group: string, nowMs: number, commits: number, conflicts: number, waits: number): GroupCounts {
    let counts = this.#groups.get(group)
    if (counts === undefined) {
      if (this.#groups.size >= groupsMax) this.#forget(nowMs)
      counts = { window: new SecondRing(60, 3, nowMs), notes: 0, isTroubled: false }
      this.#groups.set(group, counts)
    }
    counts.notes++
    const place = counts.window.at(nowMs)
    counts.window.add(place, commits)
    counts.window.add(place + 1, conflicts)
    counts.window.add(place + 2, waits)
    return counts
  }

  #forget(nowMs: number): void {
    const loads = [...this.#groups].map(([group, { window }]) => {
      const [commits = 0, conflicts = 0, waits = 0] = window.totals(nowMs, 60_000)
      return { group, load: commits + conflicts + waits }
    })
    loads.sort((a, b) => a.load - b.load)
    for (const { group } of loads.slice(0, groupsMax / 2)) {
      if (this.#groups.get(group)?.isTroubled) this.troubled--
      this.#groups.delete(group)
    }
  }
}
