/**
 * The transactions of an engine, in three concurrency modes over one read set:
 *
 *   pessimistic                  reads see the newest commits and lock what they read; a writer waits for the readers of
 *                                rows that it changes (deadlock-detection.ts)
 *   optimistic                   reads see one snapshot; the commit fails if a later commit changed a row that was read
 *   optimisticWithEntityGroups   the same by entity group: a snapshot a group, and any later commit to it is a conflict
 *
 * X1  A transaction that commits read what it would read at its commit: between its reads and its commit no other commit
 *     changed a row of its read set (a group of it). Hence committed transactions are serializable in commit order.
 *                                                              test/property/serializability.test.ts
 * X2  A read that overlaps a commit of a row it reads is made again: it never mixes before and after.
 * X3  What a transaction read stays locked, or is checked, until it ends.
 * X4  A transaction whose client is told ABORTED is over: whatever the answer was to, it holds nothing any more.
 *
 * Known: the three modes and their names (Datastore documentation). Measured: which calls are refused.
 */
import type { Scheduler } from '../clock.ts'
import type { RequestContext } from '../context.ts'
import { contention, DatastoreError, invalidArgument } from '../errors.ts'
import { deletedSince, isInAny } from '../history/deleted-ranges.ts'
import { refuseForgotten, refuseFuture } from '../history/past-view.ts'
import { type CommitInput, type Committed, type Footprint, type LogDatabase, Superseded } from '../log/commit-input.ts'
import { andThen, finallyDo, type MaybePromise, whenFails } from '../maybe-promise.ts'
import type { KeyRange } from '../storage/kv.ts'
import type { SwitchedOff } from '../switched-off.ts'
import { entityRowOf } from '../tables/entities.ts'
import type { GroupCode } from '../tables/log-rows.ts'
import { everySpace, rowsOf } from '../tables/rows.ts'
import { KvTableView, type TableView } from '../tables/table.ts'
import { Blocked } from './blocked.ts'
import { refuseChanged } from './changed-reads.ts'
import { consistentRead } from './consistent-read.ts'
import { ContendedRows, type Contention } from './contended-rows.ts'
import { LockWaits } from './deadlock-detection.ts'
import { LockTable } from './lock-table.ts'
import { type ReadSet, TrackedView } from './read-set.ts'
import { type ReadScope, ReadViews, type ReadViewsParts, refuseGlobal } from './read-views.ts'
import { type RegistryLimits, refuseEnded, TransactionRegistry } from './registry.ts'
import { type ConcurrencyMode, type Transaction, tooManyGroups } from './transaction.ts'
import { TransactionViews } from './transaction-views.ts'
import { WaitingWriters } from './waiting-writers.ts'

export interface TransactionSettings {
  readonly concurrency: ConcurrencyMode
  /** How long a writer waits for a reader's lock. */
  readonly lockTimeoutMs: number
  /** Entity groups that a transaction may touch; `undefined` = any number. */
  readonly entityGroupsMax: number | undefined
}

export interface TransactionDatabase extends LogDatabase {
  readonly transactionSettings: TransactionSettings
}

/** The scope of a reset. */
export interface GoneRows {
  /** The prefix of the codes of its databases. */
  readonly databases: string
  /** Some rows of them; absent = all. */
  readonly ranges: readonly KeyRange[] | undefined
}

export interface BeginOptions {
  readonly mode: 'readWrite' | 'readOnly'
  readonly previousTransaction?: Uint8Array
  readonly readTime?: bigint
}

export interface TransactionsParts extends ReadViewsParts, RegistryLimits {
  readonly scheduler: Scheduler
  /** Told of commits that met others. */
  readonly contention?: Contention | undefined
  /** Only for tests. */
  readonly switchedOff?: SwitchedOff | undefined
}

const noTransaction = new Uint8Array(0)

export class Transactions {
  /** A commit of several groups is one batch. */
  readonly commitsByGroup = false
  readonly #parts: TransactionsParts
  readonly #now: TableView
  readonly #readViews: ReadViews
  readonly #registry: TransactionRegistry
  readonly #writers = new WaitingWriters()
  readonly #locks: LockTable
  readonly #waits: LockWaits
  readonly #contended: ContendedRows
  readonly #held: TransactionViews
  readonly #checksConflicts: boolean

  constructor(parts: TransactionsParts) {
    this.#parts = parts
    this.#now = new KvTableView(parts.kv)
    this.#readViews = new ReadViews(parts)
    this.#held = new TransactionViews(this.#readViews, parts.recent)
    const { scheduler } = parts
    const locks = new LockTable(scheduler)
    this.#locks = locks
    this.#registry = new TransactionRegistry(scheduler, parts, (transaction) => {
      this.#held.letGo(transaction)
      locks.release(transaction)
    })
    this.#waits = new LockWaits({ scheduler, locks, writers: this.#writers, expiry: this.#registry.expiry })
    this.#contended = new ContendedRows(locks, this.#waits, parts.contention)
    this.#checksConflicts = !parts.switchedOff?.has('conflict-check')
  }

  /** Transactions that are open now. */
  get openCount(): number {
    return this.#registry.openCount
  }

  /** The id of the transaction that was begun last: those begun later have larger ones. */
  get lastId(): number {
    return this.#registry.lastId
  }

  /** Begins a transaction. Nothing is locked, and no moment chosen, before its first read. */
  begin(database: TransactionDatabase, options: BeginOptions): Transaction {
    const { readTime, previousTransaction } = options
    if (readTime !== undefined) this.#checkReadTime(readTime)
    return this.#registry.begin({
      database: database.code,
      mode: database.transactionSettings.concurrency,
      readOnly: options.mode === 'readOnly',
      readTime,
      previous: previousTransaction,
    })
  }

  /** The open transaction that a token names. @throws INVALID_ARGUMENT; ABORTED when it lost a conflict */
  find(database: TransactionDatabase, token: Uint8Array): Transaction {
    return this.#registry.find(database.code, token)
  }

  /** Ends a transaction without effect. Rolling back one that has ended already is harmless. */
  rollback(database: TransactionDatabase, token: Uint8Array): void {
    this.#registry.rollback(database.code, token)
  }

  /** A read of now outside of transactions. @see ReadViews.readNow */
  readNow<T>(
    database: TransactionDatabase,
    scope: ReadScope,
    steps: 'one' | 'many',
    work: (view: TableView) => MaybePromise<T>,
  ): MaybePromise<T> {
    return this.#readViews.readNow(database, scope, steps, work)
  }

  /** A read of the transaction failed with `error` (X4), which is thrown on. */
  failed(database: TransactionDatabase, token: Uint8Array, error: unknown): never {
    if (error instanceof DatastoreError && error.code === 'ABORTED') {
      this.#registry.openOne(database.code, token)?.end('aborted', error.message)
    }
    throw error
  }

  /** A read outside of transactions, at a past moment (microseconds). */
  readAt<T>(
    database: TransactionDatabase,
    readTime: bigint,
    scopeOf: () => ReadScope,
    work: (view: TableView) => MaybePromise<T>,
  ): MaybePromise<T> {
    this.#checkReadTime(readTime)
    return andThen(this.#readViews.at(database, readTime, scopeOf()), (snapshot) =>
      finallyDo(
        () => snapshot.during(() => work(snapshot.within(scopeOf))),
        () => snapshot.close(),
      ),
    )
  }

  /** A read of a transaction (X1, X2). */
  read<T>(
    context: RequestContext,
    database: TransactionDatabase,
    transaction: Transaction,
    scopeOf: () => ReadScope,
    work: (view: TableView) => MaybePromise<T>,
  ): MaybePromise<T> {
    if (transaction.readOnly) {
      if (transaction.mode === 'optimisticWithEntityGroups') refuseGlobal(scopeOf())
      return this.#held.read(database, transaction, scopeOf, work)
    }
    switch (transaction.mode) {
      case 'pessimistic':
        return this.#lockingRead(context, database, transaction, scopeOf, work)
      case 'optimistic':
        return this.#held.read(database, transaction, scopeOf, (view) => work(new TrackedView(view, transaction.reads)))
      case 'optimisticWithEntityGroups':
        return this.#groupRead(database, transaction, scopeOf(), work)
    }
  }

  /** A commit of a transaction, or of none. It may wait for locks. */
  commit<T>(
    database: TransactionDatabase,
    transaction: Transaction | undefined,
    input: CommitInput<T>,
  ): MaybePromise<Committed<T>> {
    const { log } = this.#parts
    if (this.#registry.openCount > 0) this.#registry.expiry.endDue()
    // A commit that waits in the append queue may meet transactions that are not open yet.
    const isAlone = this.#registry.openCount === 0 && log.gate?.isQueueing !== true
    if (transaction === undefined && isAlone) return log.commit(input)
    const groupsRead = transaction === undefined ? undefined : this.#held.groupsOf(transaction)
    // The same parts in the same order as without a transaction: so the log meets one shape of input.
    const admitted: CommitInput<T> = {
      context: input.context,
      database: input.database,
      transaction: input.transaction,
      groups: input.groups,
      evaluate: input.evaluate,
      admit: (footprint) => this.#admit(database, transaction, footprint),
      recheck: transaction === undefined ? undefined : () => this.#recheck(transaction),
      alsoMoves: groupsRead,
    }
    // A write outside of transactions waits like one that has read nothing; as the oldest it is never a deadlock's victim.
    const holder = transaction ?? this.#registry.standIn(database.code)
    const attempt = (): MaybePromise<Committed<T>> => whenFails(() => log.commit(admitted), again)
    const again = (error: unknown): Promise<Committed<T>> => {
      if (!(error instanceof Blocked)) {
        if (error instanceof DatastoreError && error.code === 'ABORTED') this.#noteContention('conflicted', input)
        throw error
      }
      this.#noteContention('waited', input)
      this.#writers.add(holder, error.footprint)
      this.#contended.met(input.context, holder, error.row, input.groups?.() ?? [])
      const { row, footprint } = error
      const { lockTimeoutMs } = database.transactionSettings
      return this.#waits.wait(input.context, holder, { row, footprint }, lockTimeoutMs).then(attempt)
    }
    return this.#ending(input.context, holder, transaction === undefined, attempt)
  }

  /** Ends what is open: the store is closed, or with a reason for the clients to try again it is set back. */
  endAll(reason?: string): void {
    this.#readViews.forget()
    for (const transaction of [...this.#registry.open()]) {
      if (reason === undefined) transaction.end('rolledBack')
      else transaction.end('aborted', contention(reason, 'transaction').message)
    }
  }

  /**
   * Rows go without a commit: a reset begins. What has read some of them is to be tried again, nothing else ends.
   *
   * @param deletion - resolves when they are deleted
   */
  rowsGo({ databases, ranges }: GoneRows, deletion: Promise<void>): void {
    const hasRead = (transaction: Transaction): boolean =>
      ranges === undefined
        ? !transaction.reads.isEmpty || this.#held.has(transaction)
        : ranges.some((range) => transaction.reads.overlaps(range)) ||
          this.#held.groupsOf(transaction)?.some((group) => isInAny(ranges, entityRowOf(group))) === true
    for (const transaction of [...this.#registry.open()]) {
      if (!transaction.database.startsWith(databases) || !hasRead(transaction)) continue
      transaction.end('aborted', deletedSince().message)
    }
    const gone = ranges ?? everySpace.map((space) => rowsOf(space, databases))
    const footprint: Footprint = { entityRows: [], indexRows: () => [], groups: [], ranges: gone }
    const { recent, log, versions } = this.#parts
    recent.add({ footprint: () => footprint, alsoMoves: [], transaction: noTransaction, written: deletion })
    log.retention.noteDeletion({ ranges: gone, at: versions.last })
  }

  /** Ends as aborted what has read rows that writes will no longer touch: nothing would keep them still for it (X1). */
  abortReaders(database: string, range: KeyRange, reason: string): void {
    for (const transaction of [...this.#registry.open()]) {
      if (transaction.database !== database || !transaction.reads.overlaps(range)) continue
      transaction.end('aborted', contention(reason, 'transaction').message)
    }
  }

  /** Runs the commit, and ends the transaction whatever comes of it. */
  #ending<T>(
    { trace }: RequestContext,
    transaction: Transaction,
    isStandIn: boolean,
    attempt: () => MaybePromise<T>,
  ): MaybePromise<T> {
    transaction.committing = true
    const failed = (thrown: unknown): never => {
      // It is committed again, in the database after a reset.
      transaction.committing = false
      if (thrown instanceof Superseded && !isStandIn) throw thrown
      const error = this.#conflictBehind(transaction, thrown)
      const aborted = error instanceof DatastoreError && error.code === 'ABORTED'
      transaction.end(aborted ? 'aborted' : 'rolledBack', aborted ? error.message : undefined)
      if (aborted && transaction.abortedBy !== undefined) trace?.aborted(transaction.abortedBy)
      throw error
    }
    const ended = (): MaybePromise<T> =>
      andThen(attempt(), (value) => {
        transaction.end('committed')
        return value
      })
    return whenFails(ended, failed)
  }

  /**
   * The reason why a commit failed: that an entity is missing, or there already, may be the work of another commit after it was
   * read. Then the transaction lost a conflict, and its client has to try again instead of giving up.
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

  #noteContention(what: 'waited' | 'conflicted', { groups, context }: CommitInput<unknown>): void {
    if (groups !== undefined && !context.isUncounted) this.#parts.contention?.[what](groups())
  }

  #recheck(transaction: Transaction): void {
    refuseEnded(transaction)
    this.#refuseConflict(transaction)
  }

  /** X1, at the last moment before the append, when no other commit can come in between. */
  #admit(database: TransactionDatabase, self: Transaction | undefined, footprint: Footprint): void {
    if (self !== undefined) {
      refuseEnded(self)
      this.#refuseConflict(self)
      this.#refuseGroups(database, self, footprint.groups)
    }
    if (!this.#checksConflicts) return
    const row = this.#locks.blockedAt(self, footprint)
    if (row !== undefined) throw new Blocked(row, footprint)
  }

  #refuseConflict(transaction: Transaction, aside?: readonly GroupCode[]): void {
    if (this.#checksConflicts) refuseChanged(this.#parts.recent, this.#held, transaction, aside)
  }

  /** Throws INVALID_ARGUMENT when the transaction would touch more groups than it may. */
  #refuseGroups(database: TransactionDatabase, transaction: Transaction, groups: readonly GroupCode[]): void {
    const { entityGroupsMax } = database.transactionSettings
    if (entityGroupsMax === undefined) return
    const touched = new Set([...(this.#held.groupsOf(transaction) ?? []), ...groups])
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
    scopeOf: () => ReadScope,
    work: (view: TableView) => MaybePromise<T>,
  ): MaybePromise<T> {
    const { recent, log } = this.#parts
    const ready = (): MaybePromise<TableView> =>
      log.pending.count === 0 ? this.#now : andThen(this.#readViews.rollForward(database, scopeOf()), () => this.#now)
    const lock = (reads: ReadSet): Promise<void> | undefined => {
      const { lockTimeoutMs: timeoutMs } = database.transactionSettings
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
    return consistentRead(recent, ready, work, lock, this.#registry.budget)
  }

  #groupRead<T>(
    database: TransactionDatabase,
    transaction: Transaction,
    scope: ReadScope,
    work: (view: TableView) => MaybePromise<T>,
  ): MaybePromise<T> {
    refuseGlobal(scope)
    const known = this.#held.groupsOf(transaction) ?? []
    this.#refuseGroups(database, transaction, scope)
    // transaction-views/HM3
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
