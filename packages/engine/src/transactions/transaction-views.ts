/**
 * The read views of open transactions: one view for all reads of an optimistic or read-only transaction, or one for each
 * entity group that it reads.
 *
 * The first read that needs a view takes it, and it stays the same until the transaction ends. Then it is closed, after its
 * last running read. A transaction that reads by entity group sees all groups at the instant of its newest view: it reads
 * User:"ada", then User:"bob", and is aborted if a commit to the group of ada came between.
 */
import { getOrInsert } from '../get-or-insert.ts'
import { invariant } from '../invariant.ts'
import type { LogDatabase } from '../log/log-database.ts'
import { andThen, forEachInOrder, isPromise, type MaybePromise, whenFails } from '../maybe-promise.ts'
import { groupOfEntityRow } from '../tables/entity-rows.ts'
import type { GroupCode } from '../tables/log-rows.ts'
import type { TableView } from '../tables/table.ts'
import type { ReadView, ReadViews, ScopedRead } from './read-views.ts'
import type { RecentCommits } from './recent-commits.ts'
import type { Transaction } from './transaction.ts'
import { refuseEnded } from './transaction-registry.ts'

/** In the place of a group: the view of all groups. A transaction has either this one, or views of single groups. */
export const everyGroup: GroupCode = ''

export class TransactionViews {
  readonly #readViews: ReadViews
  readonly #recent: RecentCommits
  readonly #views = new Map<Transaction, Map<GroupCode, MaybePromise<ReadView>>>()

  constructor(readViews: ReadViews, recent: RecentCommits) {
    this.#readViews = readViews
    this.#recent = recent
  }

  read<T>(database: LogDatabase, transaction: Transaction, read: ScopedRead<T>): MaybePromise<T> {
    return andThen(this.#viewOf(database, transaction), (readView) => {
      refuseEnded(transaction)
      return readView.read(read)
    })
  }

  /** Reads groups, each at its moment. @param added - called with new groups; throws if earlier ones have changed */
  readGroups<T>(
    database: LogDatabase,
    transaction: Transaction,
    groups: readonly GroupCode[],
    added: (fresh: readonly GroupCode[]) => void,
    work: (view: TableView) => MaybePromise<T>,
  ): MaybePromise<T> {
    const known = getOrInsert(this.#views, transaction, () => new Map())
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
        views.set(group, readView.parts.view)
        taken.add(readView)
      }),
    )
    return andThen(ready, () => {
      refuseEnded(transaction)
      if (fresh.length > 0) added(fresh)
      const read = (): MaybePromise<T> => work(groupViews(views))
      return [...taken].reduce((inner, readView) => () => readView.during(inner), read)()
    })
  }

  /** The moment that its reads see, the newest one if it reads by group; `undefined` if it has no view. */
  momentOf(transaction: Transaction): bigint | undefined {
    let newest: bigint | undefined
    for (const [, { parts }] of this.taken(transaction))
      if (newest === undefined || parts.at > newest) newest = parts.at
    return newest
  }

  /** The views of a transaction by their groups; those that are still being taken are left out. */
  *taken(transaction: Transaction): Iterable<readonly [GroupCode, ReadView]> {
    for (const [group, view] of this.#views.get(transaction) ?? []) if (!isPromise(view)) yield [group, view]
  }

  /** The groups that it has read or is reading by themselves. */
  groupsOf(transaction: Transaction): readonly GroupCode[] {
    const groups = this.#views.get(transaction)?.keys() ?? []
    return [...groups].filter((group) => group !== everyGroup)
  }

  has(transaction: Transaction): boolean {
    return this.#views.has(transaction)
  }

  letGo(transaction: Transaction): void {
    for (const view of this.#views.get(transaction)?.values() ?? []) {
      void whenFails(
        () => andThen(view, (taken) => taken.close()),
        () => undefined,
      )
    }
    this.#views.delete(transaction)
  }

  #viewOf(database: LogDatabase, transaction: Transaction): MaybePromise<ReadView> {
    const known = this.#views.get(transaction)?.get(everyGroup)
    if (known !== undefined) return known
    const made =
      transaction.readTime === undefined
        ? this.#readViews.take(database, 'global', this.#releasing(transaction))
        : this.#readViews.at(database, transaction.readTime, 'global')
    const views = new Map([[everyGroup, made]])
    this.#views.set(transaction, views)
    return andThen(made, (readView) => {
      views.set(everyGroup, readView)
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

/**
 * The tables of a transaction that reads by entity group. A look-up in Entities uses the view of the row's group. A scan
 * belongs to an ancestor query, so it has one group and uses that group's view.
 */
function groupViews(views: ReadonlyMap<GroupCode, TableView>): TableView {
  return {
    get(context, table, row) {
      const view = views.get(groupOfEntityRow(row))
      invariant(table === 'Entities' && view !== undefined, 'a group is read only through its own snapshot')
      return view.get(context, table, row)
    },
    scan(context, table, range, options) {
      const [view, ...others] = views.values()
      invariant(view !== undefined && others.length === 0, 'a scan by group is of one group')
      return view.scan(context, table, range, options)
    },
  }
}
