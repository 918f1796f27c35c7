/** Reads of a store of one process (reading.ts). A failed read in a transaction may end it. */
import type { RequestContext } from '../context.ts'
import { OverlaidView } from '../history/overlay.ts'
import { aheadRows } from '../history/past-view.ts'
import { andThen, type MaybePromise, whenFails } from '../maybe-promise.ts'
import type { ReadScope } from '../transactions/read-views.ts'
import type { TransactionDatabase } from '../transactions/transactions.ts'
import type { ReadOptions } from './api.ts'
import { beforeRead } from './before-read.ts'
import type { DatabaseParts } from './database-parts.ts'
import type { LocalParts } from './local-parts.ts'
import type { Read, Reading } from './reading.ts'
import { settled } from './settled.ts'

const emptyTransaction = new Uint8Array(0)
const noGroups: ReadScope = []

export interface LocalReadingParts
  extends Pick<DatabaseParts, 'settlement'>,
    Pick<LocalParts, 'transactions' | 'versions' | 'log'> {}

export class LocalReading implements Reading {
  readonly #database: TransactionDatabase
  readonly #parts: LocalReadingParts

  constructor(database: TransactionDatabase, parts: LocalReadingParts) {
    this.#database = database
    this.#parts = parts
  }

  verb<T>(context: RequestContext, options: ReadOptions | undefined, verb: () => MaybePromise<T>): MaybePromise<T> {
    const { settlement, transactions } = this.#parts
    const token = options?.transaction
    if (token === undefined) return settled(settlement, context, verb)
    return settled(settlement, context, () =>
      whenFails(verb, (error) => transactions.failed(this.#database, token, error)),
    )
  }

  run<T, R>(context: RequestContext, read: Read<T, R>): MaybePromise<R> {
    const { options, work, answer, steps = 'many' } = read
    if (options?.transaction !== undefined || options?.newTransaction !== undefined) {
      return this.#inTransaction(context, options, read)
    }
    const { transactions, versions, log } = this.#parts
    const { readTime } = options ?? {}
    if (readTime !== undefined) {
      const found = transactions.readAt(this.#database, readTime, () => read.scopeOf(), work)
      return andThen(found, (result) => answer(result, readTime, undefined))
    }
    if (options?.ahead === true) {
      return transactions.readNow(this.#database, noGroups, steps, (view) => {
        const ahead = new OverlaidView(view, aheadRows(log.pending.inDatabase(this.#database.code)))
        return andThen(work(ahead), (found) => answer(found, versions.readTime(), undefined))
      })
    }
    const scope =
      log.pending.count === 0 ? noGroups : beforeRead(log, this.#database, read.scopeOf(), options?.consistency)
    return andThen(scope, (seen) =>
      transactions.readNow(this.#database, seen, steps, (view) => {
        const now = versions.readTime()
        return andThen(work(view), (found) => answer(found, now, undefined))
      }),
    )
  }

  #inTransaction<T, R>(context: RequestContext, options: ReadOptions, read: Read<T, R>): MaybePromise<R> {
    const { transactions, versions } = this.#parts
    const { scopeOf, work, answer } = read
    const database = this.#database
    const begun =
      options.newTransaction === undefined ? undefined : transactions.begin(database, options.newTransaction)
    const transaction = begun ?? transactions.find(database, options.transaction ?? emptyTransaction)
    // The client never gets the token of a transaction whose first read fails, so the transaction ends.
    const failed = (error: unknown): never => {
      begun?.end('rolledBack')
      throw error
    }
    const found = whenFails(() => transactions.read(context, database, transaction, scopeOf, work), failed)
    return andThen(found, (result) => answer(result, transaction.readTime ?? versions.readTime(), begun?.token))
  }
}
