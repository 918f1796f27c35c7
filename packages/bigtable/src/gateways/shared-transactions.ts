/**
 * The transactions of a database at a shared store. A transaction is its token and its rows (transaction-rows.ts), and no process keeps
 * anything of it in memory, so each of its calls may use another gateway.
 *
 *   optimistic                   reads see one moment; the commit fails if a row or stretch that was read has changed since
 *   optimisticWithEntityGroups   the same by entity group: any later commit to a group that was read is a conflict
 *
 * As in one process, committed transactions are serializable in the order of their stamps, and a transaction that was answered ABORTED has
 * ended (test/property/gateways.test.ts).
 */
import { checkAlive, DatastoreError, invalidArgument, type MaybePromise, type RequestContext } from '@sixtables/engine'
import {
  type BeginOptions,
  type CommitInput,
  type Committed,
  type ReadScope,
  ReadSet,
  refuseGlobal,
  type TableView,
  TrackedView,
  type TransactionSettings,
  tooManyGroups,
  whileWanted,
} from '@sixtables/engine/store'
import type { SharedCommits } from './shared-commit.ts'
import type { SharedReads } from './shared-reads.ts'
import type { SharedStore } from './shared-store.ts'
import { endedError, type SharedTransaction, type TransactionRows } from './transaction-rows.ts'
import type { CheckedReads } from './validate.ts'

/** Longest wait of a call without a deadline. */
const answerWithinMs = 10_000
/** A store that answered any call in this time is not silent: the call waits for other calls. */
const silentMs = 5_000

export interface SharedTransactionsParts {
  readonly reads: SharedReads
  readonly commits: SharedCommits
  readonly rows: TransactionRows
  /** Named in messages if calls do not end. */
  readonly store: Pick<SharedStore, 'location' | 'silenceRemedy' | 'failure' | 'isGone' | 'answeredMs'>
}

export class SharedTransactions {
  readonly #reads: SharedReads
  readonly #commits: SharedCommits
  readonly #rows: TransactionRows
  readonly #store: SharedTransactionsParts['store']

  constructor({ reads, commits, rows, store }: SharedTransactionsParts) {
    this.#reads = reads
    this.#commits = commits
    this.#rows = rows
    this.#store = store
  }

  /** Begins a transaction; its moment is now. */
  async begin(
    context: RequestContext,
    { mode, readTime, previousTransaction }: BeginOptions,
  ): Promise<SharedTransaction> {
    if (previousTransaction !== undefined) {
      const previous = this.#rows.parse(previousTransaction)
      await this.#rows.refuseOld(previous)
      if (previous.readOnly) {
        throw invalidArgument('a read-only transaction has nothing to retry; begin without previous_transaction')
      }
    }
    const moment = readTime === undefined ? this.#reads.now('global') : this.#reads.past(readTime, 'global')
    return this.#rows.begin(mode === 'readOnly', (await this.wanted(context, moment)).at)
  }

  find(token: Uint8Array): SharedTransaction {
    return this.#rows.parse(token)
  }

  /** Ends a transaction without effect. A second rollback has no effect. */
  async rollback(token: Uint8Array): Promise<void> {
    const transaction = this.#rows.parse(token)
    await this.#rows.refuseOld(transaction)
    if ((await this.#rows.ended(transaction)) === 'rolledBack') return
    await this.#rows.end(transaction, 'rolledBack')
  }

  /** Ends a transaction without writes. */
  end(transaction: SharedTransaction): Promise<void> {
    return this.#rows.end(transaction, 'committed')
  }

  /** Reads in a transaction, at its moment. */
  async read<T>(
    context: RequestContext,
    settings: TransactionSettings,
    transaction: SharedTransaction,
    scope: ReadScope,
    work: (view: TableView) => MaybePromise<T>,
  ): Promise<T> {
    const byGroup = settings.concurrency === 'optimisticWithEntityGroups'
    if (byGroup) refuseGlobal(scope)
    const set = new ReadSet()
    const { view } = this.#reads.at(transaction.moment)
    const tracked = transaction.readOnly || byGroup ? view : new TrackedView(view, set)
    const reading = async (): Promise<T> => {
      await this.#rows.refuseOld(transaction)
      const [state, found] = await Promise.all([this.#rows.ended(transaction), work(tracked)])
      if (state !== undefined) throw endedError(transaction, state)
      const groups = byGroup && scope !== 'global' ? scope : []
      if (!transaction.readOnly && !(set.isEmpty && groups.length === 0)) {
        await this.#rows.note(transaction, { set, groups })
      }
      return found
    }
    return await this.wanted(context, reading())
  }

  /** Commits with or without a transaction. */
  async commit(
    settings: TransactionSettings,
    transaction: SharedTransaction | undefined,
    input: CommitInput,
  ): Promise<Committed> {
    const { context } = input
    let reads: CheckedReads | undefined
    if (transaction !== undefined) {
      // At the same time: every read that was answered before the commit is stored already.
      const ended = Promise.all([this.#rows.reads(transaction), this.#rows.end(transaction, 'committed')])
      ;[reads] = await this.wanted(context, ended)
      refuseGroups(settings, reads, input)
      if (reads.set.isEmpty && reads.groups.length === 0) reads = undefined
    }
    checkAlive(context)
    // Otherwise it might wait for a commit of its group that never ends.
    if (this.#goneWith !== undefined) throw this.#goneWith
    const commit = this.#commits.commit(input, reads)
    // The caller may stop waiting; the commit continues.
    commit.catch(() => {})
    try {
      return await this.wanted(context, commit)
    } catch (error) {
      const isCutOff = error instanceof Gone || error === this.#goneWith
      if (!isCutOff || !(error instanceof DatastoreError)) throw error
      throw new DatastoreError(error.code, `${error.message}; whether it was committed is not known`, {
        committed: 'unknown',
        cause: error,
      })
    }
  }

  /** The failure of a store that is gone for good. */
  get #goneWith(): DatastoreError | undefined {
    return this.#store.isGone === true ? this.#store.failure : undefined
  }

  /** The reason why a call has not ended, and what to do. */
  #delay({ clock }: RequestContext): string {
    const { location, silenceRemedy = 'try again later', answeredMs } = this.#store
    const limit = `within ${answerWithinMs / 1000} s`
    return answeredMs === undefined || clock.steadyMs() - answeredMs >= silentMs
      ? `${location} did not answer ${limit}; ${silenceRemedy}`
      : `the call did not end ${limit}: ${location} answers, but other calls come first, such as commits to the same entity groups; ` +
          'try again later, and make fewer calls at once'
  }

  /** Waits until the caller's deadline, or at most ten seconds without one. */
  async wanted<T>(context: RequestContext, work: Promise<T>): Promise<T> {
    let isOver = false
    const settled = work.finally(() => {
      isOver = true
    })
    const over = new AbortController()
    const late = async (): Promise<never> => {
      await context.clock.sleep(answerWithinMs, over.signal)
      throw new Gone('UNAVAILABLE', this.#store.failure?.message ?? this.#delay(context))
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
}

/** The caller cancelled, or its deadline passed, before there was an answer. */
class Gone extends DatastoreError {}

/** Throws INVALID_ARGUMENT when a transaction touches more groups than it may. */
function refuseGroups(
  { entityGroupsMax }: TransactionSettings,
  { groups }: CheckedReads,
  input: Pick<CommitInput, 'groups'>,
): void {
  if (entityGroupsMax === undefined) return
  const touched = new Set([...groups, ...(input.groups?.() ?? [])])
  if (touched.size <= entityGroupsMax) return
  throw invalidArgument(
    `the transaction touches ${touched.size} entity groups; it may touch ${entityGroupsMax}`,
    tooManyGroups,
  )
}
