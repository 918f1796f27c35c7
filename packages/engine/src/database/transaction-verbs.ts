/**
 * The transactions of databases, as the verbs use them. Implemented by Transactions for a store of one process, and by the port
 * of another store.
 */
import type { RequestContext } from '../context.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { CommitInput, Committed } from '../transactions/commit-input.ts'
import type { TransactionDatabase } from '../transactions/transaction.ts'
import type { BeginOptions } from '../transactions/transaction-registry.ts'

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
  begin(
    database: TransactionDatabase,
    options: BeginOptions,
    context: RequestContext,
  ): MaybePromise<{ readonly token: Uint8Array }>
  /** @throws INVALID_ARGUMENT; ABORTED if it lost a conflict */
  find(database: TransactionDatabase, token: Uint8Array): NamedTransaction
  rollback(database: TransactionDatabase, token: Uint8Array): MaybePromise<void>
  /** Ends the transaction if `error`, the failure of a call in it, is ABORTED; throws it on. */
  failed(database: TransactionDatabase, token: Uint8Array, error: unknown): never
}

export interface StoreCommits {
  /** Commits to a store. @param transaction - from {@link TransactionVerbs.find} */
  commit(input: CommitInput, transaction: NamedTransaction | undefined): MaybePromise<Committed>
}
