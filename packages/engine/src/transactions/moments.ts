/**
 * The tables as of one moment: now, for a transaction that goes on reading what it saw first, or in the past.
 *
 *   store with snapshots      a snapshot of now, under it the undone rows when the moment is past
 *   store without             the moment alone: each read lays the undone rows anew over what the store has then
 *
 * N3  Two reads at one moment see the same, whatever is committed in between.
 */
import { PastView, refuseForgotten, undoneRows } from '../history/past-view.ts'
import type { LogDatabase } from '../log/commit-input.ts'
import type { CommitLog } from '../log/commit-log.ts'
import type { CommitVersions } from '../log/commit-version.ts'
import type { IndexRules } from '../log/index-delta.ts'
import type { GroupCode } from '../log/log-rows.ts'
import { andThen, forEachInOrder, type MaybePromise } from '../maybe-promise.ts'
import type { Kv, KvReader, KvSnapshot } from '../storage/kv.ts'
import { KvTableView, type TableView } from '../tables/table.ts'
import type { RecentCommits } from './recent-commits.ts'
import { wholeRead } from './whole-read.ts'

/** What a read is about: the groups of its keys or of its ancestor, or everything. */
export type ReadScope = readonly GroupCode[] | 'global'

export interface Moment {
  readonly view: TableView
  /** Every commit below this mark of RecentCommits is in the view. */
  readonly mark: number
  /** Microseconds. */
  readonly at: bigint
  close(): void
}

export interface MomentsParts {
  readonly kv: Kv
  readonly log: CommitLog
  readonly versions: CommitVersions
  readonly recent: RecentCommits
  readonly rulesOf: (database: string) => IndexRules
}

export class Moments {
  readonly #parts: MomentsParts

  constructor(parts: MomentsParts) {
    this.#parts = parts
  }

  /**
   * Now. The caller gives the mark back with RecentCommits.release, by `onMark`'s means, also when this fails.
   *
   * @param onMark - told of the mark at once
   */
  take(database: LogDatabase, scope: ReadScope, onMark: (mark: number) => void): MaybePromise<Moment> {
    const { recent, kv, versions } = this.#parts
    const mark = recent.mark()
    onMark(mark)
    return andThen(this.rollForward(database, scope), () => {
      if (!kv.supports.snapshot) {
        return andThen(this.at(database, versions.readTime()), (moment) => ({ ...moment, mark }))
      }
      const snapshot = kv.snapshot()
      return { view: new KvTableView(snapshot), mark, at: versions.last, close: () => snapshot.close() }
    })
  }

  /** A moment that is not in the future (history/past-view.ts). @throws FAILED_PRECONDITION when it is too long ago */
  at(database: LogDatabase, readTime: bigint): MaybePromise<Moment> {
    const { log, kv, versions, rulesOf } = this.#parts
    // No commit may get a stamp at or below this moment any more, and those that have one must have landed.
    versions.observe(readTime)
    return andThen(this.rollForward(database, 'global'), async () => {
      await log.exclusive(() => log.quiesce())
      refuseForgotten(readTime, log.retention.oldestReadable)
      const snapshot: KvSnapshot | undefined = kv.supports.snapshot ? kv.snapshot() : undefined
      const reader: KvReader = snapshot ?? kv
      const undone = await undoneRows(reader, log.retention.newerThan(readTime), rulesOf)
      const view = new PastView(new KvTableView(reader), undone)
      return { view, mark: 0, at: readTime, close: () => snapshot?.close() }
    })
  }

  /** Reads at a moment (N3). */
  read<T>(database: LogDatabase, moment: Moment, work: (view: TableView) => MaybePromise<T>): MaybePromise<T> {
    const { kv, recent } = this.#parts
    if (kv.supports.snapshot) return work(moment.view)
    const viewOf = (): MaybePromise<TableView> => andThen(this.at(database, moment.at), ({ view }) => view)
    return wholeRead(recent, viewOf, work, () => undefined)
  }

  /** Applies what is committed in the scope and waits: every strong read begins with it. */
  rollForward(database: LogDatabase, scope: ReadScope): MaybePromise<void> {
    const { pending, applier } = this.#parts.log
    if (pending.count === 0) return
    if (scope === 'global') return applier.rollForwardDatabase(database.code, 'strong read')
    return forEachInOrder(scope, (group) => applier.rollForward(group, 'strong read'))
  }
}
