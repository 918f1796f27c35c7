/**
 * Recent commits, for conflict checks: those that are being written, and all since the oldest open mark.
 *
 *   number   1 … 2 … 3 … 4 … 5        in the order of their appends
 *            done  done  busy  done             a mark taken now is 3: a read that begins now sees 1 and 2; it may see 3 and later ones
 *
 * So a read after mark() sees every commit below the mark, and since(mark) returns all the others.
 *
 * N1  Marks, and the question whether rows were changed, cost the same however many marks and commits are kept.   recent-commits.test.ts
 */
import type { Footprint } from '../log/footprint.ts'
import type { GroupCode } from '../tables/log-rows.ts'
import type { ReadSet } from './read-set.ts'
import { RowIndex } from './row-index.ts'

export interface RecentCommit {
  readonly number: number
  readonly footprint: Footprint
  /** Groups that its transaction read: the commit changes their version too, although it may write no entity there. */
  readonly groupsRead: readonly GroupCode[]
  /** Token of its transaction; empty outside of transactions. */
  readonly transaction: Uint8Array
  /** Resolves when it is in the store; `undefined` from then on. Never rejects. */
  written: Promise<void> | undefined
}

/** Commits and rows that are dropped in one turn. */
const droppedAtOnce = 512

export class RecentCommits {
  /** Those from `#first` to before `#next`, by number. */
  readonly #commits = new Map<number, RecentCommit>()
  #first = 1
  #next = 1
  /** Commits before it are in the store. */
  #flight = 1
  /** Commits before it are in `#byRow`. */
  #indexed = 1
  /** The number of holders of each open mark. */
  readonly #marks = new Map<number, number>()
  /** The last commit that changed a row of Entities; filled while there is a mark, and when a question needs it. */
  readonly #byRow = new RowIndex<RecentCommit>()
  /** Number of commits that delete ranges of rows. */
  #resets = 0
  readonly #later: (task: () => void) => void
  #isTrimming = false

  /** @param later - runs a task in a turn of its own */
  constructor(later: (task: () => void) => void) {
    this.#later = later
  }

  /** Adds a commit in the turn of its append. Its `written` settles when the store has it or has failed. */
  add({ footprint, groupsRead, transaction, written }: Omit<RecentCommit, 'number'>): void {
    const number = this.#next++
    if (written === undefined && this.#marks.size === 0 && this.#commits.size === 0) {
      this.#first = this.#next
      this.#flight = this.#next
      this.#indexed = this.#next
      return
    }
    const commit: RecentCommit = { number, footprint, groupsRead, transaction, written }
    this.#commits.set(number, commit)
    // While a mark keeps them, commits may become many: their rows are noted one by one, not all in the turn of a question.
    if (this.#marks.size > 0) this.#index()
    if (footprint.ranges !== undefined) this.#resets++
    if (written === undefined) return
    const settled = (): void => {
      commit.written = undefined
      this.#trim()
    }
    commit.written = written.then(settled, settled)
  }

  /** The present mark, for reads in this turn; longer ones need {@link mark}. */
  get now(): number {
    while (this.#flight < this.#next && this.#commits.get(this.#flight)?.written === undefined) this.#flight++
    return this.#flight
  }

  /** Takes a mark; the holder returns it by {@link release}. */
  mark(): number {
    const mark = this.now
    this.#marks.set(mark, (this.#marks.get(mark) ?? 0) + 1)
    return mark
  }

  release(mark: number): void {
    const holders = this.#marks.get(mark) ?? 0
    if (holders > 1) this.#marks.set(mark, holders - 1)
    else this.#marks.delete(mark)
    this.#trim()
  }

  since(mark: number): readonly RecentCommit[] {
    const commits: RecentCommit[] = []
    for (let number = Math.max(mark, this.#first); number < this.#next; number++) {
      commits.push(this.#commits.get(number) as RecentCommit)
    }
    return commits
  }

  /** A commit from the mark on that changed something in `reads`: the first one, unless that is more work. */
  changeSince(mark: number, reads: ReadSet): RecentCommit | undefined {
    if (reads.hasSpans || this.#resets > 0 || this.#next - Math.max(mark, this.#first) <= reads.size) {
      return this.since(mark).find(({ footprint }) => reads.hitBy(footprint) !== undefined)
    }
    this.#index()
    for (const row of reads.rows()) {
      const commit = this.#byRow.get(row)
      if (commit !== undefined && commit.number >= mark) return commit
    }
    return undefined
  }

  #index(): void {
    for (; this.#indexed < this.#next; this.#indexed++) {
      const commit = this.#commits.get(this.#indexed) as RecentCommit
      for (const row of commit.footprint.entityRows) this.#byRow.set(row, commit)
    }
  }

  /** Drops commits that neither a mark nor a running batch needs. An old mark may have kept many: they go in several turns. */
  #trim(): void {
    if (this.#isTrimming) return
    let left = droppedAtOnce
    for (const { now } = this; left > 0; this.#first++) {
      if (this.#first >= now || this.#marks.has(this.#first)) return
      const commit = this.#commits.get(this.#first) as RecentCommit
      const { footprint } = commit
      this.#commits.delete(this.#first)
      left--
      if (this.#first < this.#indexed) {
        for (const row of footprint.entityRows) if (this.#byRow.get(row) === commit) this.#byRow.delete(row)
        left -= footprint.entityRows.length
      } else this.#indexed++
      if (footprint.ranges !== undefined) this.#resets--
    }
    this.#isTrimming = true
    this.#later(() => {
      this.#isTrimming = false
      this.#trim()
    })
  }
}
