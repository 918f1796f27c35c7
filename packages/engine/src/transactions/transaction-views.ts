/**
 * The read views of open transactions: one view for all reads of an optimistic or read-only transaction, or one for each
 * entity group that it reads.
 *
 * The first read that needs a view takes it, and it stays the same until the transaction ends. Then it is closed, after its
 * last running read. A transaction that reads by entity group sees all groups at the instant of its newest view: it reads
 * User:"ada", then User:"bob", and is aborted if a commit to the group of ada came between.
 */
import { getOrInsert } from '../get-or-insert.ts'
import type { LogDatabase } from '../log/log-database.ts'
import { andThen, forEachInOrder, isPromise, type MaybePromise, whenFails } from '../maybe-promise.ts'
import type { GroupCode } from '../tables/log-rows.ts'
import type { TableView } from '../tables/table.ts'
import { GroupViews } from './group-views.ts'
import type { ReadScope, ReadView, ReadViews } from './read-views.ts'
import type { RecentCommits } from './recent-commits.ts'
import type { Transaction } from './transaction.ts'
import { refuseEnded } from './transaction-registry.ts'

type ByGroup = Map<GroupCode, MaybePromise<ReadView>>

const noMarks: ReadonlyMap<GroupCode, number> = new Map()

export class TransactionViews {
  readonly #readViews: ReadViews
  readonly #recent: RecentCommits
  readonly #ofAll = new Map<Transaction, MaybePromise<ReadView>>()
  readonly #ofGroups = new Map<Transaction, ByGroup>()

  constructor(readViews: ReadViews, recent: RecentCommits) {
    this.#readViews = readViews
    this.#recent = recent
  }

  /** Reads at the one moment of the transaction. */
  read<T>(
    database: LogDatabase,
    transaction: Transaction,
    scopeOf: () => ReadScope,
    work: (view: TableView) => MaybePromise<T>,
  ): MaybePromise<T> {
    return andThen(this.#viewOf(database, transaction), (readView) => {
      refuseEnded(transaction)
      return readView.during(() => work(readView.within(scopeOf)))
    })
  }

  /**
   * Reads some groups, each at its moment.
   *
   * @param added - called with the groups that were added; throws if earlier groups have changed
   */
  readGroups<T>(
    database: LogDatabase,
    transaction: Transaction,
    groups: readonly GroupCode[],
    added: (fresh: readonly GroupCode[]) => void,
    work: (view: TableView) => MaybePromise<T>,
  ): MaybePromise<T> {
    const known = getOrInsert(this.#ofGroups, transaction, (): ByGroup => new Map())
    const fresh = groups.filter((group) => !known.has(group))
    for (const group of fresh) transaction.reads.charge(group.length)
    if (fresh.length > 0) {
      const view = this.#readViews.take(database, fresh, this.#releasing(transaction))
      for (const group of fresh) known.set(group, view)
    }
    const views = new Map<GroupCode, TableView>()
    const taken = new Set<ReadView>()
    const ready = forEachInOrder(groups, (group) =>
      andThen(known.get(group) as MaybePromise<ReadView>, (readView) => {
        known.set(group, readView)
        views.set(group, readView.view)
        taken.add(readView)
      }),
    )
    return andThen(ready, () => {
      refuseEnded(transaction)
      if (fresh.length > 0) added(fresh)
      const read = (): MaybePromise<T> => work(new GroupViews(views))
      return [...taken].reduce((inner, readView) => () => readView.during(inner), read)()
    })
  }

  /** The mark of the transaction's view; `undefined` before its first read. */
  markOf(transaction: Transaction): number | undefined {
    const readView = this.#ofAll.get(transaction)
    return readView === undefined || isPromise(readView) ? undefined : readView.mark
  }

  /** The moment that its reads see, the newest one if it reads by group; `undefined` if it has no view. */
  momentOf(transaction: Transaction): bigint | undefined {
    const views = [this.#ofAll.get(transaction), ...(this.#ofGroups.get(transaction)?.values() ?? [])]
    let newest: bigint | undefined
    for (const view of views) {
      if (view === undefined || isPromise(view)) continue
      if (newest === undefined || view.at > newest) newest = view.at
    }
    return newest
  }

  /** The groups that it has read, each with the mark of its view; views that are still being taken are left out. */
  marksOf(transaction: Transaction): ReadonlyMap<GroupCode, number> {
    const known = this.#ofGroups.get(transaction)
    if (known === undefined) return noMarks
    const marks = new Map<GroupCode, number>()
    for (const [group, readView] of known) if (!isPromise(readView)) marks.set(group, readView.mark)
    return marks
  }

  /** The groups that it has read or is reading; `undefined` if it does not read by group. */
  groupsOf(transaction: Transaction): readonly GroupCode[] | undefined {
    const known = this.#ofGroups.get(transaction)
    return known === undefined ? undefined : [...known.keys()]
  }

  /** Whether the transaction has a view. */
  has(transaction: Transaction): boolean {
    return this.#ofAll.has(transaction) || this.#ofGroups.has(transaction)
  }

  /** Returns the views of a transaction that has ended. */
  letGo(transaction: Transaction): void {
    const readView = this.#ofAll.get(transaction)
    if (readView !== undefined) giveBack(readView)
    this.#ofAll.delete(transaction)
    for (const ofGroup of this.#ofGroups.get(transaction)?.values() ?? []) giveBack(ofGroup)
    this.#ofGroups.delete(transaction)
  }

  #viewOf(database: LogDatabase, transaction: Transaction): MaybePromise<ReadView> {
    const known = this.#ofAll.get(transaction)
    if (known !== undefined) return known
    const made =
      transaction.readTime === undefined
        ? this.#readViews.take(database, 'global', this.#releasing(transaction))
        : this.#readViews.at(database, transaction.readTime, 'global')
    this.#ofAll.set(transaction, made)
    return andThen(made, (readView) => {
      if (transaction.state === 'active') this.#ofAll.set(transaction, readView)
      return readView
    })
  }

  #releasing(transaction: Transaction): (mark: number) => void {
    return (mark) => {
      if (transaction.state === 'active') transaction.atEnd(() => this.#recent.release(mark))
      else this.#recent.release(mark)
    }
  }
}

function giveBack(readView: MaybePromise<ReadView>): void {
  void whenFails(
    () => andThen(readView, (taken) => taken.close()),
    () => undefined,
  )
}
