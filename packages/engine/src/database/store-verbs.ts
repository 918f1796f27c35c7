/**
 * The reads, transactions and commits of a store, as the verbs use them. Implemented for a store of one process by local-reading.ts,
 * Transactions and commit.ts, and by the port of another store.
 *
 * The moment of a read follows from its options: in a transaction, in a new one, at a past moment, now, or with pending commits applied.
 */
import type { RequestContext } from '../context.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { CommitInput, Committed } from '../transactions/commit-input.ts'
import type { ScopedRead } from '../transactions/read-views.ts'
import type { TransactionDatabase } from '../transactions/transaction.ts'
import type { BeginOptions } from '../transactions/transaction-registry.ts'
import type { ReadOptions } from './api.ts'
import type { Mode } from './settings.ts'

export interface ReadingDatabase extends TransactionDatabase {
  readonly settings: TransactionDatabase['settings'] & { readonly mode: Mode }
}

export interface Read<T> extends ScopedRead<T> {
  readonly options: ReadOptions | undefined
  /** Whether the read is one step of the store; default `many`. */
  readonly steps?: 'one' | 'many'
  /** Whether only rows of Entities are read. */
  readonly isOfEntities?: boolean
}

export interface ReadResult<T> {
  readonly found: T
  readonly readTime: bigint
  /** The token of the transaction that began with this read. */
  readonly transaction: Uint8Array | undefined
}

export interface Reading {
  run<T>(context: RequestContext, database: ReadingDatabase, read: Read<T>): MaybePromise<ReadResult<T>>
}

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
