/** Reads of a store of one process (store-verbs.ts). */
import type { RequestContext } from '../context.ts'
import { overlaid } from '../history/overlay.ts'
import { aheadRows } from '../history/past-view.ts'
import { andThen, type MaybePromise, whenFails } from '../maybe-promise.ts'
import type { EntityRows } from '../tables/entity-rows.ts'
import type { TableView } from '../tables/table.ts'
import type { ReadScope } from '../transactions/read-views.ts'
import type { TransactionDatabase } from '../transactions/transaction.ts'
import type { ReadConsistency, ReadOptions } from './api.ts'
import type { LocalParts } from './database-parts.ts'
import type { Read, Reading, ReadResult } from './store-verbs.ts'

const noGroups: ReadScope = []
const noOptions: ReadOptions = {}

export class LocalReading implements Reading {
  readonly #parts: LocalParts

  constructor(parts: LocalParts) {
    this.#parts = parts
  }

  run<T>(context: RequestContext, database: TransactionDatabase, read: Read<T>): MaybePromise<ReadResult<T>> {
    const { options = noOptions, work } = read
    const { transactions, versions, log } = this.#parts
    const { transaction, newTransaction, readTime, ahead, consistency } = options
    if (transaction !== undefined || newTransaction !== undefined)
      return this.#inTransaction(context, database, options, read)
    if (readTime !== undefined) {
      const past = transactions.readAt(database, readTime, read)
      return andThen(past, (found) => ({ found, readTime, transaction: undefined }))
    }
    const scope =
      ahead === true || log.pending.count === 0 ? noGroups : this.#before(context, database, read, consistency)
    // The rows ahead are made in slices: the store's rows must stay as they were.
    const steps = ahead === true ? 'many' : (read.steps ?? 'many')
    return andThen(scope, (groups) =>
      transactions.readViews.readNow(database, groups, steps, (view) => {
        const readAt = versions.readTime()
        const seen = ahead === true ? this.#ahead(context, database, view) : view
        return andThen(andThen(seen, work), (found) => ({ found, readTime: readAt, transaction: undefined }))
      }),
    )
  }

  /** The view, with all records applied that wait in the database now. */
  #ahead(context: RequestContext, { code }: TransactionDatabase, view: TableView): MaybePromise<TableView> {
    const changes: EntityRows[] = []
    for (const record of this.#parts.log.pending.inDatabase(code)) changes.push(...record.changes)
    return andThen(aheadRows(context, changes), (rows) => overlaid(view, rows))
  }

  /**
   * The groups of which a read must see every commit. A strong read of groups: these groups. A global query: all groups under an
   * immediate policy or if the caller asks for it; else none.
   *
   * @returns no group for an eventual read; the policy may have applied something before
   */
  #before(
    context: RequestContext,
    database: TransactionDatabase,
    read: Read<unknown>,
    consistency: ReadConsistency | undefined,
  ): MaybePromise<ReadScope> {
    const { log } = this.#parts
    if (!log.applier.servesReads) return noGroups
    const scope = read.scopeOf()
    const immediate = database.settings.applyPolicy.type === 'immediate' && !log.pending.hasHeldIn(database.code)
    const strong = immediate || consistency === 'strong' || (scope !== 'global' && consistency !== 'eventual')
    return strong ? scope : andThen(log.groom(context, database), () => noGroups)
  }

  #inTransaction<T>(
    context: RequestContext,
    database: TransactionDatabase,
    { transaction: token, newTransaction }: ReadOptions,
    read: Read<T>,
  ): MaybePromise<ReadResult<T>> {
    const { transactions, versions } = this.#parts
    const begun = newTransaction && transactions.begin(database, newTransaction)
    const attempt = (): MaybePromise<ReadResult<T>> => {
      const transaction = begun ?? transactions.find(database, token ?? new Uint8Array(0))
      return andThen(transactions.read(context, database, transaction, read), (found) => {
        const readTime = transactions.momentOf(transaction) ?? versions.readTime()
        return { found, readTime, transaction: begun?.token }
      })
    }
    return whenFails(attempt, (error): never => {
      // The client never gets the token of a transaction whose first read fails, so the transaction ends.
      begun?.end('rolledBack')
      throw error
    })
  }
}
