/**
 * Recent commits, for conflict checks: those on their way to the store, and all since the oldest
 * open mark.
 *
 *   number   1 … 2 … 3 … 4 … 5        in the order of their appends
 *            done   done  way  done          a mark taken now is 3: a read made now may or may not see 3, and sees 4 or not
 *
 * N1  A read that begins after mark() sees every commit below the mark.
 * N2  since(mark) has every commit from the mark on.
 */
import type { Append, Footprint } from '../log/commit-input.ts'
import type { GroupCode } from '../tables/log-rows.ts'

export interface RecentCommit {
  readonly number: number
  /** Rows of the tables that it writes or deletes. */
  readonly footprint: Footprint
  /** Groups whose logs it moves. */
  readonly groups: readonly GroupCode[]
  /** As in {@link Append}. */
  readonly transaction: Uint8Array
  /** Resolves when it is in the store; `undefined` when it is. Never rejects. */
  written: Promise<void> | undefined
}

const nothing: readonly RecentCommit[] = []

export class RecentCommits {
  #commits: RecentCommit[] = []
  #next = 1
  #inFlight = 0
  /** Open marks, by number: how many hold it. */
  readonly #marks = new Map<number, number>()

  /** A commit is appended now. */
  add({ footprint, alsoMoves, transaction, written }: Omit<Append, 'records'>): void {
    const number = this.#next++
    if (written === undefined && this.#marks.size === 0 && this.#inFlight === 0) return
    const made = footprint()
    const commit: RecentCommit = {
      number,
      footprint: made,
      groups: [...made.groups, ...alsoMoves],
      transaction,
      written,
    }
    this.#commits.push(commit)
    if (written === undefined) return
    this.#inFlight++
    const settled = (): void => {
      commit.written = undefined
      this.#inFlight--
      this.#trim()
    }
    written.then(settled, settled)
  }

  /** The mark of now (N1). It holds for what is read in this turn; for more it must be kept. */
  get now(): number {
    const oldest = this.#inFlight === 0 ? undefined : this.#commits.find(({ written }) => written !== undefined)
    return oldest?.number ?? this.#next
  }

  /** Keeps a mark taken in this turn; the holder gives it back by {@link release}. */
  keep(mark: number): void {
    this.#marks.set(mark, (this.#marks.get(mark) ?? 0) + 1)
  }

  /** Takes a mark (N1); the holder gives it back by {@link release}. */
  mark(): number {
    const mark = this.now
    this.keep(mark)
    return mark
  }

  release(mark: number): void {
    const holders = (this.#marks.get(mark) ?? 1) - 1
    if (holders === 0) this.#marks.delete(mark)
    else this.#marks.set(mark, holders)
    this.#trim()
  }

  /** Commits from the mark on, oldest first. */
  since(mark: number): readonly RecentCommit[] {
    if (this.#commits.length === 0) return nothing
    return this.#commits.filter(({ number }) => number >= mark)
  }

  /** Drops what neither a mark nor a batch under way keeps. */
  #trim(): void {
    if (this.#marks.size === 0 && this.#inFlight === 0) {
      this.#commits = []
      return
    }
    let kept = this.#next
    for (const mark of this.#marks.keys()) kept = Math.min(kept, mark)
    let gone = 0
    for (const { number, written } of this.#commits) {
      if (number >= kept || written !== undefined) break
      gone++
    }
    if (gone > 0) this.#commits.splice(0, gone)
  }
}
