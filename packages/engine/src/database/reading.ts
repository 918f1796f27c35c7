/**
 * Where the options of a read say that it happens: in a transaction, in a new one, at a past moment, now, or ahead of what waits. Its bodies:
 * local-reading.ts for a store of one process (LocalReading), and a store's port for another one.
 */
import type { RequestContext } from '../context.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { TableView } from '../tables/table.ts'
import type { ReadScope } from '../transactions/read-views.ts'
import type { TransactionDatabase } from '../transactions/transactions.ts'
import type { ReadOptions } from './api.ts'
import type { Mode } from './settings.ts'

/** A database that is read. */
export interface ReadingDatabase extends TransactionDatabase {
  readonly settings: { readonly mode: Mode }
}

export interface Read<T, R> {
  readonly options: ReadOptions | undefined
  /** The groups that it reads; asked for only where it matters. */
  scopeOf(): ReadScope
  work(view: TableView): MaybePromise<T>
  /** @param transaction - the one that began with this read */
  answer(found: T, readTime: bigint, transaction: Uint8Array | undefined): R
  /** Whether all of it is read in one step from the store; default `many`. */
  readonly steps?: 'one' | 'many'
  /** Whether it reads rows of Entities alone. */
  readonly isOfEntities?: boolean
}

export interface Reading {
  /** A whole verb that may read in a transaction, which is over when the answer is ABORTED (transactions/X2). */
  verb<T>(context: RequestContext, options: ReadOptions | undefined, verb: () => MaybePromise<T>): MaybePromise<T>
  /** The read itself. */
  run<T, R>(context: RequestContext, read: Read<T, R>): MaybePromise<R>
}
