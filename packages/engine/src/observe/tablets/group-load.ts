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
import type { GroupReport } from './report.ts'
import { StepRing } from './step-ring.ts'

const groupsMax = 512
/** Rates are over the whole span, also of a new group: a few commits in its first second are no rate. */
const always = Number.NEGATIVE_INFINITY

/** The group is its code. */
type GroupRates = Omit<GroupReport, 'logHex'>

export class GroupLoad {
  /** Commits, conflicts and waits of the last minute. */
  readonly #groups = new Map<string, { readonly window: StepRing; notes: number }>()
  /** Groups with conflicts or waits; if there are any, {@link committed} must be called for each commit. */
  readonly troubled: Set<string> = new Set()

  /** Notes a sampled commit. @param count - the number of commits of this group that it stands for */
  sampled(group: string, nowMs: number, count: number): void {
    if (!this.troubled.has(group)) this.#note(group, nowMs, 0, count)
  }

  committed(group: string, nowMs: number): void {
    if (this.troubled.has(group)) this.#note(group, nowMs, 0, 1)
  }

  conflicted(group: string, nowMs: number): void {
    this.troubled.add(group)
    this.#note(group, nowMs, 1, 1)
  }

  waited(group: string, nowMs: number): void {
    this.troubled.add(group)
    this.#note(group, nowMs, 2, 1)
  }

  clear(): void {
    this.#groups.clear()
    this.troubled.clear()
  }

  /** The busiest groups, those with conflicts first. */
  busiest(nowMs: number, spanMs: number, limit: number): readonly GroupRates[] {
    const rates: GroupRates[] = []
    for (const [group, { window, notes }] of this.#groups) {
      const [commitsPerSecond = 0, conflictsPerSecond = 0, waitsPerSecond = 0] = window.rates(nowMs, spanMs, always)
      if (conflictsPerSecond + waitsPerSecond > 0 || (commitsPerSecond > 0 && notes > 1))
        rates.push({ group, commitsPerSecond, conflictsPerSecond, waitsPerSecond })
    }
    const contention = (one: GroupRates): number => one.conflictsPerSecond + one.waitsPerSecond
    const busier = (a: GroupRates, b: GroupRates): number =>
      contention(b) - contention(a) || b.commitsPerSecond - a.commitsPerSecond || (a.group < b.group ? -1 : 1)
    return rates.sort(busier).slice(0, limit)
  }

  /** @param measure - its place in the window */
  #note(group: string, nowMs: number, measure: 0 | 1 | 2, count: number): void {
    let counts = this.#groups.get(group)
    if (counts === undefined) {
      if (this.#groups.size >= groupsMax) this.#forget(nowMs)
      counts = { window: new StepRing(1_000, 60, 3), notes: 0 }
      this.#groups.set(group, counts)
    }
    counts.notes++
    counts.window.add(counts.window.at(nowMs) + measure, count)
  }

  #forget(nowMs: number): void {
    const loads = [...this.#groups].map(([group, { window }]) => {
      const [commits = 0, conflicts = 0, waits = 0] = window.totals(nowMs, 60_000)
      return { group, load: commits + conflicts + waits }
    })
    loads.sort((a, b) => a.load - b.load)
    for (const { group } of loads.slice(0, groupsMax / 2)) {
      this.troubled.delete(group)
      this.#groups.delete(group)
    }
  }
}
