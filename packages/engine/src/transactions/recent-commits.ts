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
import { lowerBound } from '../lower-bound.ts'
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

/** A commit in the turn of its append. */
export interface AppendedCommit extends Pick<RecentCommit, 'transaction' | 'groupsRead'> {
  /** Called if anything can ask for the commit. */
  footprint(): Footprint
  /** Settles when the store has the commit or has failed; `undefined` if the store has it already. */
  readonly written: Promise<void> | undefined
}

interface Mark {
  readonly number: number
  holders: number
}

/** Lists that are longer than this are copied when half of them is dropped. */
const copiedFrom = 64

export class RecentCommits {
  /** Places before `#first` are dropped, and empty; those before `#flight` are in the store; those before `#indexed` are in `#byRow`. */
  #commits: (RecentCommit | undefined)[] = []
  #first = 0
  #flight = 0
  #indexed = 0
  #next = 1
  #inFlight = 0
  /** Open marks, ascending. Those before `#firstMark` have no holder. */
  #marks: Mark[] = []
  #firstMark = 0
  /** The last commit that changed a row of Entities; filled while there is a mark, and when a question needs it. */
  readonly #byRow = new RowIndex<RecentCommit>()
  /** Number of commits that delete ranges of rows. */
  #resets = 0

  add({ footprint, groupsRead, transaction, written }: AppendedCommit): void {
    const number = this.#next++
    if (written === undefined && this.#marks.length === 0 && this.#inFlight === 0) return
    const made = footprint()
    const commit: RecentCommit = { number, footprint: made, groupsRead, transaction, written }
    this.#commits.push(commit)
    // While a mark keeps them, commits may become many: their rows are noted one by one, not all in the turn of a question.
    if (this.#firstMark < this.#marks.length) this.#index()
    if (made.ranges !== undefined) this.#resets++
    if (written === undefined) return
    this.#inFlight++
    const settled = (): void => {
      commit.written = undefined
      this.#inFlight--
      this.#trim()
    }
    commit.written = written.then(settled, settled)
  }

  /** The present mark, for reads in this turn; longer ones need {@link mark}. */
  get now(): number {
    while (this.#flight < this.#commits.length && this.#commits[this.#flight]?.written === undefined) this.#flight++
    return this.#commits[this.#flight]?.number ?? this.#next
  }

  /** Takes a mark; the holder returns it by {@link release}. */
  mark(): number {
    const number = this.now
    const last = this.#marks.at(-1)
    if (last?.number === number) last.holders++
    else this.#marks.push({ number, holders: 1 })
    return number
  }

  release(mark: number): void {
    const held = this.#marks[lowerBound(this.#marks.length, (i) => (this.#marks[i] as Mark).number < mark)]
    if (held !== undefined) held.holders--
    this.#trim()
  }

  /** Commits from the mark on, oldest first. */
  since(mark: number): readonly RecentCommit[] {
    return this.#commits.slice(this.#placeOf(mark)) as RecentCommit[]
  }

  /** A commit from the mark on that changed something in `reads`: the first one, unless that is more work. */
  changeSince(mark: number, reads: ReadSet): RecentCommit | undefined {
    const place = this.#placeOf(mark)
    if (reads.hasSpans || this.#resets > 0 || this.#commits.length - place <= reads.size) {
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
    for (; this.#indexed < this.#commits.length; this.#indexed++) {
      const commit = this.#commits[this.#indexed] as RecentCommit
      for (const row of commit.footprint.entityRows) this.#byRow.set(row, commit)
    }
  }

  #placeOf(mark: number): number {
    return lowerBound(this.#commits.length, (i) => (this.#commits[i] as RecentCommit).number < mark, this.#first)
  }

  /** Drops commits that neither a mark nor a running batch needs. */
  #trim(): void {
    while (this.#marks[this.#firstMark]?.holders === 0) this.#firstMark++
    const kept = this.#marks[this.#firstMark]?.number ?? this.#next
    for (;;) {
      const commit = this.#commits[this.#first]
      if (commit === undefined || commit.number >= kept || commit.written !== undefined) break
      const { footprint } = commit
      if (this.#first < this.#indexed) {
        for (const row of footprint.entityRows) if (this.#byRow.get(row) === commit) this.#byRow.delete(row)
      } else this.#indexed++
      if (footprint.ranges !== undefined) this.#resets--
      this.#commits[this.#first++] = undefined
    }
    if (isHalfDropped(this.#firstMark, this.#marks)) {
      this.#marks = this.#marks.slice(this.#firstMark)
      this.#firstMark = 0
    }
    if (isHalfDropped(this.#first, this.#commits)) {
      this.#commits = this.#commits.slice(this.#first)
      this.#flight = Math.max(0, this.#flight - this.#first)
      this.#indexed -= this.#first
      this.#first = 0
    }
  }
}

function isHalfDropped(dropped: number, list: readonly unknown[]): boolean {
  return dropped > 0 && (dropped === list.length || (dropped >= copiedFrom && 2 * dropped >= list.length))
}
