/**
 * The moments that open transactions read at: one for all that an optimistic or read-only transaction reads, or one for each
 * entity group.
 *
 * HM1  A moment is chosen by the first read that needs it, and stays the same until the transaction ends.
 * HM2  It is given back when the transaction has ended, and closed when no read of it is under way any more.
 * HM3  A transaction that reads by entity group reads them all as of one moment, the latest of its moments: a group that was
 *      read before must not have moved when another one is added.
 */
import type { GroupCode } from '../log/log-rows.ts'
import { andThen, forEachInOrder, type MaybePromise } from '../maybe-promise.ts'
import type { TableView } from '../tables/table.ts'
import type { Moment, Moments } from './moments.ts'
import type { RecentCommits } from './recent-commits.ts'
import { refuseEnded } from './registry.ts'
import type { Transaction } from './transaction.ts'
import type { TransactionDatabase } from './transactions.ts'

type ByGroup = Map<GroupCode, MaybePromise<Moment>>

const noMarks: ReadonlyMap<GroupCode, number> = new Map()

export class HeldMoments {
  readonly #moments: Moments
  readonly #recent: RecentCommits
  readonly #ofAll = new Map<Transaction, MaybePromise<Moment>>()
  readonly #ofGroups = new Map<Transaction, ByGroup>()

  constructor(moments: Moments, recent: RecentCommits) {
    this.#moments = moments
    this.#recent = recent
  }

  /** Reads at the transaction's one moment. */
  read<T>(
    database: TransactionDatabase,
    transaction: Transaction,
    work: (view: TableView) => MaybePromise<T>,
  ): MaybePromise<T> {
    return andThen(this.#momentOf(database, transaction), (moment) => {
      refuseEnded(transaction)
      return this.#moments.read(database, moment, work)
    })
  }

  /**
   * Reads some groups, each at its moment.
   *
   * @param added - called when moments of groups were added, with these; it throws when earlier ones have moved (HM3)
   */
  readGroups<T>(
    database: TransactionDatabase,
    transaction: Transaction,
    groups: readonly GroupCode[],
    added: (fresh: readonly GroupCode[]) => void,
    work: (view: TableView) => MaybePromise<T>,
  ): MaybePromise<T> {
    const known = this.#groupsOf(transaction)
    const fresh = groups.filter((group) => !known.has(group))
    if (fresh.length > 0) {
      const taken = this.#moments.take(database, fresh, this.#releasing(transaction))
      for (const group of fresh) known.set(group, taken)
    }
    const moments = new Map<GroupCode, Moment>()
    const ready = forEachInOrder(groups, (group) =>
      andThen(known.get(group) as MaybePromise<Moment>, (moment) => {
        known.set(group, moment)
        moments.set(group, moment)
      }),
    )
    return andThen(ready, () => {
      refuseEnded(transaction)
      if (fresh.length > 0) added(fresh)
      return this.#moments.readGroups(database, moments, work)
    })
  }

  /** The mark of the transaction's one moment; `undefined` while there is none. */
  markOf(transaction: Transaction): number | undefined {
    const moment = this.#ofAll.get(transaction)
    return moment === undefined || moment instanceof Promise ? undefined : moment.mark
  }

  /** The groups that it has read, each with the mark of its moment; those that are not there yet are left out. */
  marksOf(transaction: Transaction): ReadonlyMap<GroupCode, number> {
    const known = this.#ofGroups.get(transaction)
    if (known === undefined) return noMarks
    const marks = new Map<GroupCode, number>()
    for (const [group, moment] of known) if (!(moment instanceof Promise)) marks.set(group, moment.mark)
    return marks
  }

  /** The groups that it has read, or is reading; `undefined` when it reads by no group. */
  groupsOf(transaction: Transaction): readonly GroupCode[] | undefined {
    const known = this.#ofGroups.get(transaction)
    return known === undefined ? undefined : [...known.keys()]
  }

  /** Whether the transaction has chosen a moment. */
  has(transaction: Transaction): boolean {
    return this.#ofAll.has(transaction) || this.#ofGroups.has(transaction)
  }

  /** The transaction has ended (HM2). */
  letGo(transaction: Transaction): void {
    const moment = this.#ofAll.get(transaction)
    if (moment !== undefined) giveBack(moment)
    this.#ofAll.delete(transaction)
    for (const ofGroup of this.#ofGroups.get(transaction)?.values() ?? []) giveBack(ofGroup)
    this.#ofGroups.delete(transaction)
  }

  #momentOf(database: TransactionDatabase, transaction: Transaction): MaybePromise<Moment> {
    const known = this.#ofAll.get(transaction)
    if (known !== undefined) return known
    const made =
      transaction.readTime === undefined
        ? this.#moments.take(database, 'global', this.#releasing(transaction))
        : this.#moments.at(database, transaction.readTime)
    this.#ofAll.set(transaction, made)
    if (!(made instanceof Promise)) return made
    return made.then((moment) => {
      if (transaction.state === 'active') this.#ofAll.set(transaction, moment)
      return moment
    })
  }

  #groupsOf(transaction: Transaction): ByGroup {
    let known = this.#ofGroups.get(transaction)
    if (known === undefined) {
      known = new Map()
      this.#ofGroups.set(transaction, known)
    }
    return known
  }

  /** Keeps a mark until the transaction ends. */
  #releasing(transaction: Transaction): (mark: number) => void {
    return (mark) => {
      if (transaction.state === 'active') transaction.atEnd(() => this.#recent.release(mark))
      else this.#recent.release(mark)
    }
  }
}

function giveBack(moment: MaybePromise<Moment>): void {
  if (!(moment instanceof Promise)) moment.close()
  else
    moment.then(
      (late) => late.close(),
      () => undefined,
    )
}
