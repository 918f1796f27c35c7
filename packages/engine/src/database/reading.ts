/**
 * The moment of a read, from its options: in a transaction, in a new one, at a past moment, now, or with pending commits applied.
 * Implemented by local-reading.ts for a store of one process, and by the port of another store.
 */
import type { RequestContext } from '../context.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { ScopedRead } from '../transactions/read-views.ts'
import type { TransactionDatabase } from '../transactions/transaction.ts'
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
