/**
 * Read views: the tables at one instant. A strong read or a transaction uses a view of now, a snapshot; a read with `read_time`
 * uses a view of the past, a snapshot plus the undone rows of later commits. Two reads of one view see the same rows, whatever
 * is committed between them.
 *
 * N1  A view of now contains every commit to the groups of its scope that was acknowledged before. A commit that is visible in one
 *     of these groups is visible in all of them: strong reads are never torn.       test/property/strong-reads.test.ts
 *
 *   group g   ▪ 1 applied   ▪ 2 applied   □ 3 waits        Applying g and then h is not enough: commit 3 to both groups may come between,
 *   group h   ▪ 1 applied   ▪ 2 applied   ▪ 3 applied      and be applied in h alone. A view is therefore taken in a turn in which
 *                                                          nothing waits in any group of the scope.
 */
import type { Scheduler } from '../clock.ts'
import { invalidArgument } from '../errors.ts'
import { pastView, refuseForgotten } from '../history/past-view.ts'
import { type Moment, UndoneRows } from '../history/undone-rows.ts'
import { invariant } from '../invariant.ts'
import type { CommitLog } from '../log/commit-log.ts'
import type { CommitVersions } from '../log/commit-version.ts'
import type { LogDatabase } from '../log/log-database.ts'
import { andThen, finallyDo, type MaybePromise } from '../maybe-promise.ts'
import type { Kv, KvSnapshot } from '../storage/kv.ts'
import type { IndexRules } from '../tables/entity-rows.ts'
import type { GroupCode } from '../tables/log-rows.ts'
import { KvTableView, type TableView } from '../tables/table.ts'
import type { RecentCommits } from './recent-commits.ts'

/** The scope of a read: the groups of its keys or of its ancestor, or everything. */
export type ReadScope = readonly GroupCode[] | 'global'

export interface ScopedRead<T> {
  /** The groups to read; called only if needed. */
  scopeOf(): ReadScope
  /** Reads in a view; repeated if a commit overlaps a read that takes locks. */
  work(view: TableView): MaybePromise<T>
}

export interface ReadViewsParts {
  readonly kv: Kv
  readonly scheduler: Scheduler
  readonly log: CommitLog
  readonly versions: CommitVersions
  readonly recent: RecentCommits
  readonly rulesOf: (database: string) => IndexRules
}

export class ReadViews {
  readonly #parts: ReadViewsParts
  readonly #now: TableView
  readonly #undone: UndoneRows

  constructor(parts: ReadViewsParts) {
    this.#parts = parts
    this.#undone = new UndoneRows(parts.scheduler)
    this.#now = new KvTableView(parts.kv)
  }

  /** A view of now (N1). @param onMark - called in the same turn; the caller releases the mark, even if this fails */
  take(database: LogDatabase, scope: ReadScope, onMark: (mark: number) => void): MaybePromise<ReadView> {
    const { recent, kv, versions } = this.#parts
    return this.#whenApplied(database, scope, () => {
      const snapshot = kv.snapshot()
      const mark = recent.mark()
      onMark(mark)
      return new ReadView({ view: new KvTableView(snapshot), mark, at: versions.readTime(), snapshot })
    })
  }

  /** A single strong read (N1). @param steps - `one`: `work` reads everything in one step of the store */
  readNow<T>(
    database: LogDatabase,
    scope: ReadScope,
    steps: 'one' | 'many',
    work: (view: TableView) => MaybePromise<T>,
  ): MaybePromise<T> {
    if (steps === 'one') {
      if (this.#parts.log.pending.count === 0) return work(this.#now)
      return andThen(this.rollForward(database, scope), () => work(this.#now))
    }
    return andThen(
      this.#whenApplied(database, scope, () => this.#parts.kv.snapshot()),
      (snapshot) =>
        finallyDo(
          () => work(new KvTableView(snapshot)),
          () => snapshot.close(),
        ),
    )
  }

  /** A view of a moment that is not in the future (history/past-view.ts). @throws FAILED_PRECONDITION if it is too long ago */
  at(database: LogDatabase, readTime: bigint, scope: ReadScope): MaybePromise<ReadView> {
    const { log, kv, versions, rulesOf } = this.#parts
    // From now on, no commit may have a version at or below this moment.
    versions.observe(readTime)
    const look = (): ReadView => {
      const { retention } = log
      refuseForgotten(readTime, retention.oldestReadable)
      const reader = kv.snapshot()
      const moment: Moment = { at: readTime, reader, newer: retention.newerThan(readTime), rulesOf }
      const deleted = retention.deletedSince(readTime)
      const parts = { now: new KvTableView(reader), moment, undone: this.#undone, deleted }
      const past = pastView(parts)
      const within = (scopeOf: () => ReadScope): TableView => {
        const read = scopeOf()
        return read !== 'global' && read.length === 1 ? pastView({ ...parts, group: read[0] }) : past
      }
      return new ReadView({ view: past, within, mark: 0, at: readTime, snapshot: reader })
    }
    const ready = andThen(log.retention.link(), () => this.rollForward(database, scope))
    return andThen(ready, () => this.#whenStill(database, scope, look))
  }

  /** Frees the memory that reads of the past share. */
  forget(): void {
    this.#undone.forget()
  }

  /** Applies the waiting commits of the scope; every strong read begins with this. */
  rollForward(database: LogDatabase, scope: ReadScope): MaybePromise<void> {
    const { pending, applier } = this.#parts.log
    return applier.rollForwardGroups(scope === 'global' ? pending.groupsOf(database.code) : scope, 'strong read')
  }

  /** Runs `look` in a turn in which nothing waits in the scope (N1). If commits come faster than they are applied, they wait. */
  #whenApplied<T>(database: LogDatabase, scope: ReadScope, look: () => T): MaybePromise<T> {
    if (this.#parts.log.pending.count === 0 || !this.#waitsIn(database, scope)) return look()
    return andThen(this.rollForward(database, scope), () =>
      this.#waitsIn(database, scope) ? this.#whenStill(database, scope, look) : look(),
    )
  }

  /** Runs `look` in a turn in which no commit is being written and nothing waits in the scope. */
  #whenStill<T>(database: LogDatabase, scope: ReadScope, look: () => T): MaybePromise<T> {
    const { log } = this.#parts
    return log.exclusive(async () => {
      await log.quiesce()
      await this.rollForward(database, scope)
      invariant(!this.#waitsIn(database, scope), 'N1: nothing waits in the scope of a moment')
      return look()
    })
  }

  #waitsIn(database: LogDatabase, scope: ReadScope): boolean {
    const { pending } = this.#parts.log
    return scope === 'global'
      ? pending.hasIn(database.code)
      : scope.some((group) => pending.oldest(group) !== undefined)
  }
}

interface ReadViewParts {
  readonly view: TableView
  readonly within?: (scopeOf: () => ReadScope) => TableView
  /** The view has every commit below this mark of RecentCommits. */
  readonly mark: number
  /** Microseconds. */
  readonly at: bigint
  readonly snapshot: KvSnapshot
}

export class ReadView {
  readonly parts: ReadViewParts
  #reads = 0
  #isGivenBack = false

  constructor(parts: ReadViewParts) {
    this.parts = parts
  }

  read<T>({ scopeOf, work }: ScopedRead<T>): MaybePromise<T> {
    const { view, within } = this.parts
    return this.during(() => work(within === undefined ? view : within(scopeOf)))
  }

  during<T>(read: () => MaybePromise<T>): MaybePromise<T> {
    this.#reads++
    return finallyDo(read, () => {
      this.#reads--
      this.#closeIfUnused()
    })
  }

  /** Returns the view. A running read continues. */
  close(): void {
    this.#isGivenBack = true
    this.#closeIfUnused()
  }

  #closeIfUnused(): void {
    if (this.#isGivenBack && this.#reads === 0) this.parts.snapshot.close()
  }
}

/** Known: a transaction over entity groups, even a read-only one, reads by key or below an ancestor (measured: legacy). */
export function refuseGlobal(scope: ReadScope): asserts scope is readonly GroupCode[] {
  if (scope === 'global') {
    throw invalidArgument(
      'a query in a transaction of this concurrency mode needs an ancestor: add a HAS_ANCESTOR filter',
      'Only ancestor queries are allowed inside transactions.',
    )
  }
}
