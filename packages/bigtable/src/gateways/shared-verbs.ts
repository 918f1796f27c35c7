/** The verbs of databases at a store that several processes share (shared/): transactions, and the moments of reads. */
import { andThen, type MaybePromise, type ReadOptions, type RequestContext } from '@sixtables/engine'
import {
  type BeginOptions,
  type CommitInput,
  type Committed,
  type NamedTransaction,
  type Read,
  type Reading,
  type ReadingDatabase,
  type Settlement,
  settled,
  type TransactionDatabase,
  type TransactionVerbs,
} from '@sixtables/engine/store'
import type { SharedDatabases } from './shared-databases.ts'
import type { SharedMoment } from './shared-reads.ts'
import type { SharedTransaction } from './transaction-rows.ts'

interface SharedNamed extends SharedTransaction, NamedTransaction {}

export class SharedVerbs implements TransactionVerbs {
  readonly openCount = 0
  readonly commitsByGroup = true
  readonly #databases: SharedDatabases

  constructor(databases: SharedDatabases) {
    this.#databases = databases
  }

  begin({ code }: TransactionDatabase, options: BeginOptions, context: RequestContext): Promise<SharedTransaction> {
    return this.#databases.of(code).transactions.begin(context, options)
  }

  find({ code }: TransactionDatabase, token: Uint8Array): SharedNamed {
    const { transactions } = this.#databases.of(code)
    const found = transactions.find(token)
    return { ...found, end: () => transactions.end(found) }
  }

  rollback({ code }: TransactionDatabase, token: Uint8Array): Promise<void> {
    return this.#databases.of(code).transactions.rollback(token)
  }

  commit<T>(
    database: TransactionDatabase,
    transaction: SharedNamed | undefined,
    input: CommitInput<T>,
  ): Promise<Committed<T>> {
    const { transactions } = this.#databases.of(database.code)
    return transactions.commit(database.transactionSettings, transaction, input)
  }
}

export class SharedReading implements Reading {
  readonly #database: ReadingDatabase
  readonly #databases: SharedDatabases
  readonly #settlement: Settlement

  constructor(database: ReadingDatabase, databases: SharedDatabases, settlement: Settlement) {
    this.#database = database
    this.#databases = databases
    this.#settlement = settlement
  }

  verb<T>(context: RequestContext, _options: ReadOptions | undefined, verb: () => MaybePromise<T>): MaybePromise<T> {
    return settled(this.#settlement, context, verb)
  }

  async run<T, R>(context: RequestContext, read: Read<T, R>): Promise<R> {
    const { options = {}, work, answer } = read
    const { transactions } = this.#databases.of(this.#database.code)
    if (options.transaction !== undefined || options.newTransaction !== undefined) {
      const begun =
        options.newTransaction === undefined ? undefined : await transactions.begin(context, options.newTransaction)
      const transaction = begun ?? transactions.find(options.transaction as Uint8Array)
      const settings = this.#database.transactionSettings
      const found = await transactions.read(context, settings, transaction, read.scopeOf(), work)
      return answer(found, transaction.moment, begun?.token)
    }
    const { at, view } = await transactions.wanted(context, this.#momentOf(read))
    return await transactions.wanted(
      context,
      Promise.resolve(andThen(work(view), (found) => answer(found, at, undefined))),
    )
  }

  #momentOf({ options = {}, scopeOf, isOfEntities = false }: Read<unknown, unknown>): Promise<SharedMoment> {
    const { reads } = this.#databases.of(this.#database.code)
    const scope = scopeOf()
    const { readTime, consistency } = options
    if (readTime !== undefined) return reads.past(readTime, scope)
    const isEventual =
      consistency === undefined
        ? scope === 'global' && this.#database.settings.mode === 'legacy'
        : consistency === 'eventual'
    if (isEventual) return reads.eventual()
    const [only] = scope
    return isOfEntities && scope !== 'global' && scope.length === 1 && only !== undefined
      ? reads.head(only)
      : reads.now(scope)
  }
}
