/**
 * The transactions of an engine, in three concurrency modes over one read set:
 *
 *   pessimistic                  reads see the newest commits and lock what they read; a writer waits for the readers of
 *                                rows that it changes (deadlock-detection.ts)
 *   optimistic                   reads see one snapshot; the commit fails if a later commit changed a row that was read
 *   optimisticWithEntityGroups   the same by entity group: one snapshot per group, and any later commit to it is a conflict
 *
 * Transactions 1 and 2 both read {points: 3} and write {points: 4}. Pessimistic: a deadlock, and 2 is aborted. Optimistic: the
 * first commit wins, the second one is aborted, and has to retry. No addition is lost.
 *
 * X1  Between the reads and the commit of a transaction, no other commit changes a row (or group) of its read set: rows are locked or
 *     checked until it ends. Hence committed transactions are serializable in commit order.   test/property/serializability.test.ts
 * X2  A transaction that was answered ABORTED, to any call, is over and holds nothing.         transactions.test.ts
 *
 * Known: the three modes and their names (Datastore documentation). Measured: which calls are refused.
 */
import type { RequestContext } from '../context.ts'
import { contention, DatastoreError, invalidArgument } from '../errors.ts'
import { deletedSince, isInAny } from '../history/deleted-ranges.ts'
import { refuseForgotten, refuseFuture } from '../history/past-view.ts'
import type { Footprint } from '../log/footprint.ts'
import { Superseded } from '../log/log-database.ts'
import { andThen, finallyDo, type MaybePromise, runSteps } from '../maybe-promise.ts'
import type { KeyRange } from '../storage/kv.ts'
import type { SwitchedOff } from '../switched-off.ts'
import { entityRowOf } from '../tables/entities.ts'
import type { GroupCode } from '../tables/log-rows.ts'
import { everySpace, rowsOf } from '../tables/rows.ts'
import { KvTableView, type TableView } from '../tables/table.ts'
import { refuseChanged } from './changed-reads.ts'
import type { CommitInput } from './commit-input.ts'
import { consistentRead } from './consistent-read.ts'
import { ContendedRows, type Contention } from './contended-rows.ts'
import { LockWaits } from './deadlock-detection.ts'
import { Blocked, LockTable } from './lock-table.ts'
import { type ReadSet, TrackedView } from './read-set.ts'
import { ReadViews, type ReadViewsParts, refuseGlobal, type ScopedRead } from './read-views.ts'
import { type Transaction, type TransactionDatabase, tooManyGroups } from './transaction.ts'
import { type BeginOptions, type RegistryLimits, refuseEnded, TransactionRegistry } from './transaction-registry.ts'
import { TransactionViews } from './transaction-views.ts'
import { WaitingWriters } from './waiting-writers.ts'

/** The scope of a reset. */
export interface GoneRows {
  /** A prefix of the codes of its databases. */
  readonly databases: string
  /** Their rows to delete; absent = all. */
  readonly ranges: readonly KeyRange[] | undefined
}

export interface TransactionsParts extends ReadViewsParts, RegistryLimits {
  readonly contention?: Contention | undefined
  readonly switchedOff?: SwitchedOff | undefined
}

const noTransaction = new Uint8Array(0)

/** The part of a commit that concerns the open transactions. */
export interface CommitGuard {
  /** Groups that its transaction read: the commit changes their version too, although it may write no entity there. */
  readonly groupsRead: readonly GroupCode[]
  /** Throws if the commit is known to fail before it is evaluated. */
  recheck(): void
  /** The last check before the append. Throws if the commit must be refused, or {@link Blocked} if it must wait. */
  admit(footprint: Footprint): void
  /** Resolves when a commit that was blocked can be repeated; throws any other error. */
  blocked(error: unknown): Promise<void>
  committed(): void
  /** @returns the error of the answer */
  failed(error: unknown): unknown
}

export class Transactions extends TransactionRegistry {
  readonly #parts: TransactionsParts
  readonly #now: TableView
  /** For strong reads outside of transactions, too. */
  readonly readViews: ReadViews
  readonly #writers = new WaitingWriters()
  readonly #locks: LockTable
  readonly #waits: LockWaits
  readonly #contended: ContendedRows
  readonly #held: TransactionViews
  readonly #checksConflicts: boolean

  constructor(parts: TransactionsParts) {
    const { scheduler } = parts
    super(scheduler, parts)
    this.#parts = parts
    this.#now = new KvTableView(parts.kv)
    this.readViews = new ReadViews(parts)
    this.#held = new TransactionViews(this.readViews, parts.recent)
    this.#locks = new LockTable(scheduler)
    this.#waits = new LockWaits({ scheduler, locks: this.#locks, writers: this.#writers, expiry: this.expiry })
    this.#contended = new ContendedRows(this.#locks, this.#waits, parts.contention)
    this.#checksConflicts = !parts.switchedOff?.has('conflict-check')
  }

  /** Begins a transaction. Its first read takes locks or chooses its moment. */
  override begin(database: TransactionDatabase, options: BeginOptions): Transaction {
    if (options.readTime !== undefined) this.#checkReadTime(options.readTime)
    return super.begin(database, options)
  }

  override ended(transaction: Transaction): void {
    super.ended(transaction)
    this.#held.letGo(transaction)
    this.#locks.release(transaction)
  }

  /** The moment that its reads see; `undefined` while it has read nothing, or reads with locks. */
  momentOf(transaction: Transaction): bigint | undefined {
    return transaction.readTime ?? this.#held.momentOf(transaction)
  }

  /** Ends the transaction if `error`, the failure of its read, is ABORTED (X2); throws it on. */
  failed(database: TransactionDatabase, token: Uint8Array, error: unknown): never {
    if (error instanceof DatastoreError && error.code === 'ABORTED') {
      this.openOne(database, token)?.end('aborted', error.message)
    }
    throw error
  }

  /** A read at a past moment (microseconds), outside of transactions. */
  readAt<T>(database: TransactionDatabase, readTime: bigint, read: ScopedRead<T>): MaybePromise<T> {
    this.#checkReadTime(readTime)
    return andThen(this.readViews.at(database, readTime, read.scopeOf()), (snapshot) =>
      finallyDo(
        () => snapshot.read(read),
        () => snapshot.close(),
      ),
    )
  }

  read<T>(
    context: RequestContext,
    database: TransactionDatabase,
    transaction: Transaction,
    read: ScopedRead<T>,
  ): MaybePromise<T> {
    if (transaction.readOnly) {
      if (transaction.mode === 'optimisticWithEntityGroups') refuseGlobal(read.scopeOf())
      return this.#held.read(database, transaction, read)
    }
    switch (transaction.mode) {
      case 'pessimistic':
        return this.#lockingRead(context, database, transaction, read)
      case 'optimistic':
        return this.#held.read(database, transaction, {
          scopeOf: read.scopeOf,
          work: (view) => read.work(new TrackedView(view, transaction.reads)),
        })
      case 'optimisticWithEntityGroups':
        return this.#groupRead(database, transaction, read)
    }
  }

  /**
   * Guards a commit against the open transactions. The commit ends by `committed` or `failed` of the guard.
   *
   * @returns `undefined` for a commit outside of transactions while none is open: {@link admit} tells if one began meanwhile
   */
  guard(transaction: Transaction | undefined, input: CommitInput): CommitGuard | undefined {
    if (this.openCount > 0) this.expiry.endDue()
    // During a wait in the append queue, transactions may begin that the commit then has to respect.
    const isAlone = this.openCount === 0 && this.#parts.log.gate?.isQueueing !== true
    if (transaction === undefined && isAlone) return undefined
    return this.guardAgainst(transaction, input)
  }

  guardAgainst(transaction: Transaction | undefined, input: CommitInput): CommitGuard {
    const { database } = input
    // A write outside of transactions waits like a transaction without reads; as the oldest one it is never the victim of a deadlock.
    const holder = transaction ?? this.standIn(database.code)
    holder.committing = true
    const groupsRead = transaction === undefined ? [] : this.#held.groupsOf(transaction)
    return {
      groupsRead,
      recheck: () => {
        if (transaction === undefined) return
        refuseEnded(transaction)
        this.#refuseConflict(transaction)
      },
      // The check of X1, right before the append: no other commit can come between.
      admit: (footprint) => {
        if (transaction !== undefined) {
          refuseEnded(transaction)
          this.#refuseConflict(transaction)
          this.#refuseGroups(database, transaction, footprint.groups)
        }
        this.#refuseLocked(transaction, footprint)
      },
      blocked: (error) => this.#blocked(input, holder, error),
      committed: () => holder.end('committed'),
      failed: (error) => this.#failed(input.context, holder, transaction === undefined, error),
    }
  }

  /** Admits a commit without a guard. @throws Blocked if a transaction that began meanwhile has a lock on its rows */
  admit(footprint: Footprint): void {
    if (this.openCount > 0) this.#refuseLocked(undefined, footprint)
  }

  /** Ends all open transactions: the store closes, or with a reason for a retry it is reset. */
  endAll(reason?: string): void {
    this.readViews.forget()
    const message = reason && contention(reason, 'transaction').message
    for (const transaction of [...this.open()])
      transaction.end(message === undefined ? 'rolledBack' : 'aborted', message)
  }

  /**
   * A reset begins to delete rows without a commit. Transactions that have read some of them are aborted; the others continue.
   *
   * @param deletion - resolves when the rows are deleted
   */
  rowsGo({ databases, ranges }: GoneRows, deletion: Promise<void>): void {
    const hasRead = (transaction: Transaction): boolean =>
      ranges === undefined
        ? !transaction.reads.isEmpty || this.#held.has(transaction)
        : ranges.some((range) => transaction.reads.overlaps(range)) ||
          this.#held.groupsOf(transaction).some((group) => isInAny(ranges, entityRowOf(group)))
    const { message } = deletedSince()
    for (const transaction of [...this.open()]) {
      if (transaction.database.startsWith(databases) && hasRead(transaction)) transaction.end('aborted', message)
    }
    const gone = ranges ?? everySpace.map((space) => rowsOf(space, databases))
    const footprint: Footprint = { entityRows: [], indexRows: () => [], groups: [], ranges: gone }
    const { recent, log, versions } = this.#parts
    recent.add({ footprint, groupsRead: [], transaction: noTransaction, written: deletion })
    log.retention.noteDeletion({ ranges: gone, at: versions.last })
  }

  /** Aborts transactions that have read index rows that writes will no longer maintain: X1 could not hold for them. */
  abortReaders(database: string, range: KeyRange, reason: string): void {
    const { message } = contention(reason, 'transaction')
    for (const transaction of [...this.open()]) {
      if (transaction.database === database && transaction.reads.overlaps(range)) transaction.end('aborted', message)
    }
  }

  #blocked(input: CommitInput, holder: Transaction, error: unknown): Promise<void> {
    if (!(error instanceof Blocked)) {
      if (error instanceof DatastoreError && error.code === 'ABORTED') this.#noteContention('conflicted', input)
      throw error
    }
    const { row, footprint } = error
    this.#noteContention('waited', input)
    this.#writers.add(holder, footprint)
    this.#contended.met(input.context, holder, row, input.groups?.() ?? [])
    return this.#waits.wait(input.context, holder, { row, footprint }, input.database.settings.lockTimeoutMs)
  }

  /** Ends the transaction of a failed commit. @returns the error of its answer */
  #failed({ trace }: RequestContext, transaction: Transaction, isStandIn: boolean, thrown: unknown): unknown {
    // The commit is repeated, in the database after a reset.
    transaction.committing = false
    if (thrown instanceof Superseded && !isStandIn) return thrown
    const error = this.#conflictBehind(transaction, thrown)
    const aborted = error instanceof DatastoreError && error.code === 'ABORTED'
    transaction.end(aborted ? 'aborted' : 'rolledBack', aborted ? error.message : undefined)
    if (aborted && transaction.abortedBy !== undefined) trace?.aborted(transaction.abortedBy)
    return error
  }

  /**
   * The error of a failed commit. If an entity is missing, or exists, another commit may have changed that since it was read:
   * the transaction then lost a conflict, and its client must retry.
   */
  #conflictBehind(transaction: Transaction, error: unknown): unknown {
    if (!(error instanceof DatastoreError) || error.code === 'ABORTED' || transaction.state !== 'active') return error
    try {
      this.#refuseConflict(transaction)
      return error
    } catch (conflict) {
      return conflict
    }
  }

  #noteContention(what: 'waited' | 'conflicted', { groups, context }: CommitInput): void {
    if (groups !== undefined && !context.isUncounted) this.#parts.contention?.(what, groups())
  }

  #refuseLocked(self: Transaction | undefined, footprint: Footprint): void {
    if (!this.#checksConflicts) return
    const row = this.#locks.blockedAt(self, footprint)
    if (row !== undefined) throw new Blocked(row, footprint)
  }

  #refuseConflict(transaction: Transaction, aside?: readonly GroupCode[]): void {
    if (this.#checksConflicts) refuseChanged(this.#parts.recent, this.#held, transaction, aside)
  }

  #refuseGroups(database: TransactionDatabase, transaction: Transaction, groups: readonly GroupCode[]): void {
    const { entityGroupsMax } = database.settings
    if (entityGroupsMax === undefined) return
    const touched = new Set([...this.#held.groupsOf(transaction), ...groups])
    if (touched.size > entityGroupsMax) {
      throw invalidArgument(
        `the transaction touches ${touched.size} entity groups; it may touch ${entityGroupsMax}`,
        tooManyGroups,
      )
    }
  }

  #lockingRead<T>(
    context: RequestContext,
    database: TransactionDatabase,
    transaction: Transaction,
    { scopeOf, work }: ScopedRead<T>,
  ): MaybePromise<T> {
    const { recent, log } = this.#parts
    const ready = (): MaybePromise<TableView> =>
      log.pending.count === 0 ? this.#now : andThen(this.readViews.rollForward(database, scopeOf()), () => this.#now)
    const lock = (reads: ReadSet): Promise<void> | undefined => {
      const { lockTimeoutMs: timeoutMs } = database.settings
      const turn = this.#contended.turn(context, transaction, reads, timeoutMs)
      if (turn !== undefined) return turn
      const writer = this.#writers.before(transaction, reads)
      if (writer === undefined) {
        if (transaction.state !== 'active') return undefined
        transaction.reads.addAll(reads)
        this.#locks.take(transaction, reads)
        return undefined
      }
      return this.#waits.wait(context, transaction, writer, timeoutMs)
    }
    return runSteps(consistentRead(recent, ready, work, lock, this.budget))
  }

  #groupRead<T>(
    database: TransactionDatabase,
    transaction: Transaction,
    { scopeOf, work }: ScopedRead<T>,
  ): MaybePromise<T> {
    const scope = scopeOf()
    refuseGlobal(scope)
    const known = this.#held.groupsOf(transaction)
    this.#refuseGroups(database, transaction, scope)
    // Throws if the groups that were read before have changed (transaction-views.ts).
    const added = (fresh: readonly GroupCode[]): void => {
      if (known.length > 0) this.#refuseConflict(transaction, fresh)
    }
    return this.#held.readGroups(database, transaction, scope, added, work)
  }

  #checkReadTime(readTime: bigint): void {
    refuseFuture(readTime, this.#parts.versions.newest())
    refuseForgotten(readTime, this.#parts.log.retention.oldestReadable)
  }
}
