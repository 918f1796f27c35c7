/**
 * The moment of a read, from its options: in a transaction, in a new one, at a past moment, now, or with pending commits applied.
 * Implemented by local-reading.ts for a store of one process, and by the port of another store.
 */
import type { RequestContext } from '../context.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { TableView } from '../tables/table.ts'
import type { ReadScope } from '../transactions/read-views.ts'
import type { TransactionDatabase } from '../transactions/transactions.ts'
import type { ReadOptions } from './api.ts'
import type { Mode } from './settings.ts'

export interface ReadingDatabase extends TransactionDatabase {
  readonly settings: { readonly mode: Mode }
}

export interface Read<T, R> {
  readonly options: ReadOptions | undefined
  /** The groups to read; called only if needed. */
  scopeOf(): ReadScope
  work(view: TableView): MaybePromise<T>
  /** @param transaction - the transaction that began with this read */
  answer(found: T, readTime: bigint, transaction: Uint8Array | undefined): R
  /** Whether the read is one step of the store; default `many`. */
  readonly steps?: 'one' | 'many'
  /** Whether only rows of Entities are read. */
  readonly isOfEntities?: boolean
}

export interface Reading {
  /** Runs a whole verb that may read in a transaction. The transaction has ended if the answer is ABORTED. */
  verb<T>(context: RequestContext, options: ReadOptions | undefined, verb: () => MaybePromise<T>): MaybePromise<T>
  /** The read itself. */
  run<T, R>(context: RequestContext, read: Read<T, R>): MaybePromise<R>
}
