/**
 * The verbs of databases at a store that several processes share: transactions, commits, and the moments of reads. A transaction is its token
 * and its rows (transaction-rows.ts), and no process keeps anything of it in memory, so each of its calls may use another gateway.
 *
 *   optimistic                   reads see one moment; the commit fails if a row or stretch that was read has changed since
 *   optimisticWithEntityGroups   the same by entity group: any later commit to a group that was read is a conflict
 *
 * As in one process, committed transactions are serializable in the order of their stamps, and a transaction that was answered ABORTED has
 * ended (test/property/gateways.test.ts).
 */
import { checkAlive, DatastoreError, invalidArgument, type RequestContext } from '@sixtables/engine'
import {
  type BeginOptions,
  type CommitInput,
  type Committed,
  type GroupCode,
  getOrInsert,
  groupsOf,
  type NamedTransaction,
  type Read,
  type Reading,
  type ReadingDatabase,
  type ReadResult,
  ReadSet,
  refuseGlobal,
  TrackedView,
  type TransactionDatabase,
  type TransactionSettings,
  type TransactionVerbs,
  tooManyGroups,
  whileWanted,
} from '@sixtables/engine/store'
import { allInSlices } from './all-in-slices.ts'
import { groupsAtOnce } from './group-row.ts'
import { workOfCall } from './resolve.ts'
import type { SharedDatabase, SharedDatabases } from './shared-databases.ts'
import { eventualMoment, groupHead, momentAt, momentNow, pastMoment, type SharedMoment } from './shared-reads.ts'
import type { SharedStore } from './shared-store.ts'
import {
  endedError,
  endOf,
  endTransaction,
  newTransaction,
  noteReads,
  parseTransaction,
  readsOf,
  refuseOld,
  type SharedTransaction,
} from './transaction-rows.ts'
import type { CheckedReads } from './validate.ts'

/** Longest wait of a call without a deadline. */
const answerWithinMs = 10_000
/** A store that answered any call in this time is not silent: the call waits for other calls. */
const silentMs = 5_000

interface SharedNamed extends SharedTransaction, NamedTransaction {}

export class SharedVerbs implements TransactionVerbs, Reading {
  readonly openCount = 0
  readonly #databases: SharedDatabases

  constructor(databases: SharedDatabases) {
    this.#databases = databases
  }

  begin({ code }: TransactionDatabase, options: BeginOptions, context: RequestContext): Promise<SharedTransaction> {
    return begin(this.#databases.of(code), context, options)
  }

  find({ code }: TransactionDatabase, token: Uint8Array): SharedNamed {
    const database = this.#databases.of(code)
    const found = parseTransaction(database, token)
    return { ...found, end: () => endTransaction(database, found, 'committed') }
  }

  /** Ends a transaction without effect. A second rollback has no effect. */
  async rollback({ code }: TransactionDatabase, token: Uint8Array): Promise<void> {
    const database = this.#databases.of(code)
    const transaction = parseTransaction(database, token)
    await refuseOld(database, transaction)
    if ((await endOf(database, transaction)) === 'rolledBack') return
    await endTransaction(database, transaction, 'rolledBack')
  }

  /** A transaction is in the store, and ends there. */
  failed(_database: TransactionDatabase, _token: Uint8Array, error: unknown): never {
    throw error
  }

  /** Commits; a list that is not atomic by entity group. */
  commit(input: CommitInput, transaction: SharedNamed | undefined): Promise<Committed> {
    const database = this.#databases.of(input.database.code)
    const { rules, mutations } = input
    return rules.atomic || mutations.length === 1
      ? commit(database, input, transaction)
      : commitByGroup(database, input)
  }

  async run<T>(context: RequestContext, { code, settings }: ReadingDatabase, read: Read<T>): Promise<ReadResult<T>> {
    const { options = {}, work } = read
    const database = this.#databases.of(code)
    if (options.transaction !== undefined || options.newTransaction !== undefined) {
      const begun =
        options.newTransaction === undefined ? undefined : await begin(database, context, options.newTransaction)
      const transaction = begun ?? parseTransaction(database, options.transaction as Uint8Array)
      const found = await readIn(database, context, settings, transaction, read)
      return { found, readTime: transaction.moment, transaction: begun?.token }
    }
    const { store } = database
    const { at, view } = await wanted(store, context, momentOf(database, settings, read))
    const found = await wanted(store, context, Promise.resolve(work(view)))
    return { found, readTime: at, transaction: undefined }
  }
}

/** Begins a transaction; its moment is now. */
async function begin(
  database: SharedDatabase,
  context: RequestContext,
  { mode, readTime, previousTransaction }: BeginOptions,
): Promise<SharedTransaction> {
  if (previousTransaction !== undefined) {
    const previous = parseTransaction(database, previousTransaction)
    await refuseOld(database, previous)
    if (previous.readOnly) {
      throw invalidArgument('a read-only transaction has nothing to retry; begin without previous_transaction')
    }
  }
  const moment = readTime === undefined ? momentNow(database, 'global') : pastMoment(database, readTime, 'global')
  return newTransaction(database, mode === 'readOnly', (await wanted(database.store, context, moment)).at)
}

async function readIn<T>(
  database: SharedDatabase,
  context: RequestContext,
  settings: TransactionSettings,
  transaction: SharedTransaction,
  { scopeOf, work }: Read<T>,
): Promise<T> {
  const scope = scopeOf()
  const byGroup = settings.concurrency === 'optimisticWithEntityGroups'
  if (byGroup) refuseGlobal(scope)
  const set = new ReadSet()
  const { view } = momentAt(database, transaction.moment)
  const tracked = transaction.readOnly || byGroup ? view : new TrackedView(view, set)
  const reading = async (): Promise<T> => {
    await refuseOld(database, transaction)
    const [state, found] = await Promise.all([endOf(database, transaction), work(tracked)])
    if (state !== undefined) throw endedError(transaction, state)
    const groups = byGroup && scope !== 'global' ? scope : []
    if (!transaction.readOnly && !(set.isEmpty && groups.length === 0)) {
      await noteReads(database, transaction, { set, groups })
    }
    return found
  }
  return await wanted(database.store, context, reading())
}

function momentOf(
  database: SharedDatabase,
  { mode }: ReadingDatabase['settings'],
  { options = {}, scopeOf, isOfEntities = false }: Read<unknown>,
): Promise<SharedMoment> {
  const scope = scopeOf()
  const { readTime, consistency } = options
  if (readTime !== undefined) return pastMoment(database, readTime, scope)
  const isEventual = consistency === undefined ? scope === 'global' && mode === 'legacy' : consistency === 'eventual'
  if (isEventual) return eventualMoment(database)
  return isOfEntities && scope !== 'global' && scope.length === 1
    ? groupHead(database, scope[0] as GroupCode)
    : momentNow(database, scope)
}

async function commit(
  database: SharedDatabase,
  input: CommitInput,
  transaction: SharedTransaction | undefined,
): Promise<Committed> {
  const { store, commits } = database
  const { context } = input
  let reads: CheckedReads | undefined
  if (transaction !== undefined) {
    // At the same time: every read that was answered before the commit is stored already.
    const ended = Promise.all([readsOf(database, transaction), endTransaction(database, transaction, 'committed')])
    ;[reads] = await wanted(store, context, ended)
    refuseGroups(reads, input)
    if (reads.set.isEmpty && reads.groups.length === 0) reads = undefined
  }
  checkAlive(context)
  // Otherwise it might wait for a commit of its group that never ends.
  if (store.isGone && store.failure !== undefined) throw store.failure
  const committing = commits.commit(input, reads)
  // The caller may stop waiting; the commit continues.
  committing.catch(() => {})
  try {
    return await wanted(store, context, committing)
  } catch (error) {
    const isCutOff = error instanceof Gone || (store.isGone && error === store.failure)
    if (!isCutOff || !(error instanceof DatastoreError)) throw error
    throw new DatastoreError(error.code, `${error.message}; whether it was committed is not known`, {
      committed: 'unknown',
      cause: error,
    })
  }
}

/**
 * Commits a list group by group, some side by side. If one group fails, its error is the answer, and the changes of all other groups
 * stay, later ones included.
 */
async function commitByGroup(database: SharedDatabase, input: CommitInput): Promise<Committed> {
  const { mutations } = input
  const places = new Map<string, number[]>()
  for (const [i, { key }] of mutations.entries()) {
    const [group = ''] = groupsOf([key])
    getOrInsert(places, group, () => []).push(i)
  }
  const outcomes = new Array<Committed['outcomes'][number]>(mutations.length)
  let [version, indexUpdates] = [0n, 0]
  const commitGroup = async (own: readonly number[]): Promise<void> => {
    const part = own.map((place) => mutations[place] as CommitInput['mutations'][number])
    const groups = () => groupsOf(part.map(({ key }) => key))
    const committed = await commit(database, { ...input, mutations: part, groups }, undefined)
    if (committed.failure !== undefined) throw committed.failure
    for (const [i, outcome] of committed.outcomes.entries()) outcomes[own[i] as number] = outcome
    indexUpdates += committed.indexUpdates
    if (committed.version > version) version = committed.version
  }
  const ended = await allInSlices(
    database.store.context(),
    [...places.values()],
    groupsAtOnce,
    () => workOfCall,
    async (own) => (await Promise.allSettled([commitGroup(own)]))[0],
  )
  for (const outcome of ended) if (outcome.status === 'rejected') throw outcome.reason
  return { version, outcomes, failure: undefined, indexUpdates }
}

/** Throws INVALID_ARGUMENT when a transaction touches more groups than it may. */
function refuseGroups({ groups }: CheckedReads, { database, groups: written }: CommitInput): void {
  const { entityGroupsMax } = database.settings
  if (entityGroupsMax === undefined) return
  const touched = new Set([...groups, ...(written?.() ?? [])])
  if (touched.size <= entityGroupsMax) return
  throw invalidArgument(
    `the transaction touches ${touched.size} entity groups; it may touch ${entityGroupsMax}`,
    tooManyGroups,
  )
}

/** Waits until the caller's deadline, or at most ten seconds without one. */
async function wanted<T>(store: SharedStore, context: RequestContext, work: Promise<T>): Promise<T> {
  let isOver = false
  const settled = work.finally(() => {
    isOver = true
  })
  const over = new AbortController()
  const late = async (): Promise<never> => {
    await context.clock.sleep(answerWithinMs, over.signal)
    throw new Gone('UNAVAILABLE', store.failure?.message ?? delayOf(store, context))
  }
  try {
    const wanted = whileWanted(context, settled)
    return await (context.deadlineAt === undefined ? Promise.race([wanted, late()]) : wanted)
  } catch (error) {
    if (isOver || error instanceof Gone || !(error instanceof DatastoreError)) throw error
    throw new Gone(error.code, error.message)
  } finally {
    over.abort('answered')
  }
}

/** The reason why a call has not ended, and what to do. */
function delayOf({ location, silenceRemedy = 'try again later', answeredMs }: SharedStore, { clock }: RequestContext) {
  const limit = `within ${answerWithinMs / 1000} s`
  return answeredMs === undefined || clock.steadyMs() - answeredMs >= silentMs
    ? `${location} did not answer ${limit}; ${silenceRemedy}`
    : `the call did not end ${limit}: ${location} answers, but other calls come first, such as commits to the same entity groups; ` +
        'try again later, and make fewer calls at once'
}

/** The caller cancelled, or its deadline passed, before there was an answer. */
class Gone extends DatastoreError {}
