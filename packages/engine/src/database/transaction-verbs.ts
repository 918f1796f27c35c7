/**
 * The transactions of databases as the verbs see them. Their bodies: Transactions for a store of one process, and
 * shared-verbs.ts for one that several share.
 */
import type { RequestContext } from '../context.ts'
import type { CommitInput, Committed } from '../log/commit-input.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { BeginOptions, TransactionDatabase } from '../transactions/transactions.ts'

/** A transaction that a client has named in a commit. */
export interface NamedTransaction {
  readonly token: Uint8Array
  /** `transaction 42`, as messages name it. */
  readonly name: string
  readonly readOnly: boolean
  /** Ends it without writing anything. */
  end(state: 'committed'): MaybePromise<void>
}

export interface TransactionVerbs {
  /** Transactions that are open in this process; 0 where none are held. */
  readonly openCount: number
  /** Whether a list of mutations that is not atomic is committed by entity group. */
  readonly commitsByGroup: boolean
  begin(
    database: TransactionDatabase,
    options: BeginOptions,
    context: RequestContext,
  ): MaybePromise<{ readonly token: Uint8Array }>
  /** @throws INVALID_ARGUMENT; ABORTED when it lost a conflict */
  find(database: TransactionDatabase, token: Uint8Array): NamedTransaction
  rollback(database: TransactionDatabase, token: Uint8Array): MaybePromise<void>
  /** @param transaction - from {@link find} */
  commit<T>(
    database: TransactionDatabase,
    transaction: NamedTransaction | undefined,
    input: CommitInput<T>,
  ): MaybePromise<Committed<T>>
}
