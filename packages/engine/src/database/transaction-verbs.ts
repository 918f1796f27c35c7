/**
 * The transactions of databases, as the verbs use them. Implemented by Transactions for a store of one process, and by
 * shared-verbs.ts for a shared store.
 */
import type { RequestContext } from '../context.ts'
import type { CommitInput, Committed } from '../log/commit-input.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { BeginOptions, TransactionDatabase } from '../transactions/transactions.ts'

/** A transaction that a client named in a commit. */
export interface NamedTransaction {
  readonly token: Uint8Array
  /** `transaction 42`, as messages name it. */
  readonly name: string
  readonly readOnly: boolean
  end(state: 'committed'): MaybePromise<void>
}

export interface TransactionVerbs {
  /** Open transactions of this process; 0 if it holds none. */
  readonly openCount: number
  /** Whether a non-atomic list of mutations is committed by entity group. */
  readonly commitsByGroup: boolean
  begin(
    database: TransactionDatabase,
    options: BeginOptions,
    context: RequestContext,
  ): MaybePromise<{ readonly token: Uint8Array }>
  /** @throws INVALID_ARGUMENT; ABORTED if it lost a conflict */
  find(database: TransactionDatabase, token: Uint8Array): NamedTransaction
  rollback(database: TransactionDatabase, token: Uint8Array): MaybePromise<void>
  /** @param transaction - from {@link find} */
  commit<T>(
    database: TransactionDatabase,
    transaction: NamedTransaction | undefined,
    input: CommitInput<T>,
  ): MaybePromise<Committed<T>>
}
