/** The verbs of databases at a store that several processes share (shared/): transactions, and the moments of reads. */
import type { RequestContext } from '@sixtables/engine'
import {
  allInSlices,
  type BeginOptions,
  type CommitInput,
  type Committed,
  groupsOf,
  type NamedTransaction,
  type Read,
  type Reading,
  type ReadingDatabase,
  type ReadResult,
  type TransactionDatabase,
  type TransactionVerbs,
} from '@sixtables/engine/store'
import { groupsAtOnce } from './group-row.ts'
import { workOfCall } from './resolve.ts'
import type { SharedDatabases } from './shared-databases.ts'
import type { SharedMoment } from './shared-reads.ts'
import type { SharedTransaction } from './transaction-rows.ts'

interface SharedNamed extends SharedTransaction, NamedTransaction {}

export class SharedVerbs implements TransactionVerbs {
  readonly openCount = 0
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

  /** A transaction is in the store, and ends there. */
  failed(_database: TransactionDatabase, _token: Uint8Array, error: unknown): never {
    throw error
  }

  /** Commits; a list that is not atomic by entity group. */
  commit(input: CommitInput, transaction: SharedNamed | undefined): Promise<Committed> {
    const { rules, mutations } = input
    return rules.atomic || mutations.length === 1 ? this.#commit(input, transaction) : this.#commitByGroup(input)
  }

  #commit(input: CommitInput, transaction: SharedNamed | undefined): Promise<Committed> {
    const { database } = input
    return this.#databases.of(database.code).transactions.commit(database.settings, transaction, input)
  }

  /**
   * Commits a list group by group, some side by side. If one group fails, its error is the answer, and the changes of all other groups
   * stay, later ones included.
   */
  async #commitByGroup(input: CommitInput): Promise<Committed> {
    const { mutations } = input
    const places = new Map<string, number[]>()
    for (const [i, { key }] of mutations.entries()) {
      const [group = ''] = groupsOf([key])
      const others = places.get(group)
      if (others === undefined) places.set(group, [i])
      else others.push(i)
    }
    const outcomes = new Array<Committed['outcomes'][number]>(mutations.length)
    let [version, indexUpdates] = [0n, 0]
    const commitGroup = async (own: readonly number[]): Promise<void> => {
      const part = own.map((place) => mutations[place] as CommitInput['mutations'][number])
      const groups = () => groupsOf(part.map(({ key }) => key))
      const committed = await this.#commit({ ...input, mutations: part, groups }, undefined)
      if (committed.failure !== undefined) throw committed.failure
      for (const [i, outcome] of committed.outcomes.entries()) outcomes[own[i] as number] = outcome
      indexUpdates += committed.indexUpdates
      if (committed.version > version) version = committed.version
    }
    const ended = await allInSlices(
      this.#databases.store.context(),
      [...places.values()],
      groupsAtOnce,
      () => workOfCall,
      async (own) => (await Promise.allSettled([commitGroup(own)]))[0],
    )
    for (const outcome of ended) if (outcome.status === 'rejected') throw outcome.reason
    return { version, outcomes, failure: undefined, indexUpdates }
  }
}

export class SharedReading implements Reading {
  readonly #databases: SharedDatabases

  constructor(databases: SharedDatabases) {
    this.#databases = databases
  }

  async run<T>(context: RequestContext, database: ReadingDatabase, read: Read<T>): Promise<ReadResult<T>> {
    const { options = {}, work } = read
    const { transactions } = this.#databases.of(database.code)
    if (options.transaction !== undefined || options.newTransaction !== undefined) {
      const begun =
        options.newTransaction === undefined ? undefined : await transactions.begin(context, options.newTransaction)
      const transaction = begun ?? transactions.find(options.transaction as Uint8Array)
      const found = await transactions.read(context, database.settings, transaction, read.scopeOf(), work)
      return { found, readTime: transaction.moment, transaction: begun?.token }
    }
    const { at, view } = await transactions.wanted(context, this.#momentOf(database, read))
    const found = await transactions.wanted(context, Promise.resolve(work(view)))
    return { found, readTime: at, transaction: undefined }
  }

  #momentOf(
    { code, settings }: ReadingDatabase,
    { options = {}, scopeOf, isOfEntities = false }: Read<unknown>,
  ): Promise<SharedMoment> {
    const { reads } = this.#databases.of(code)
    const scope = scopeOf()
    const { readTime, consistency } = options
    if (readTime !== undefined) return reads.past(readTime, scope)
    const isEventual =
      consistency === undefined ? scope === 'global' && settings.mode === 'legacy' : consistency === 'eventual'
    if (isEventual) return reads.eventual()
    const [only] = scope
    return isOfEntities && scope !== 'global' && scope.length === 1 && only !== undefined
      ? reads.head(only)
      : reads.now(scope)
  }
}
