/** Converts ReadOptions and TransactionOptions of the API to the engine's. */

import { invalidArgument, type ReadConsistency, type ReadOptions, type TransactionOptions } from '@sixtables/engine'
import type { ReadOptions as WireReadOptions, TransactionOptions as WireTransactionOptions } from '#gen/wire.js'
import { exactMicrosOf } from './int64.ts'

const strong = 1
const eventual = 2

/** @returns `undefined` if nothing was chosen: the mode of the database decides */
export function readOptionsOf(options: WireReadOptions | null): ReadOptions | undefined {
  if (options === null) return undefined
  const { readConsistency, transaction, newTransaction, readTime } = options
  if (readConsistency !== null) return { consistency: consistencyOf(readConsistency) }
  if (transaction !== null) return { transaction: transactionIdOf(transaction) }
  if (newTransaction !== null) return { newTransaction: transactionOptionsOf(newTransaction) }
  if (readTime !== null) return { readTime: exactMicrosOf(readTime, 'read_time') }
  return undefined
}

function consistencyOf(value: number): ReadConsistency {
  if (value === strong) return 'strong'
  if (value === eventual) return 'eventual'
  if (value === 0)
    throw invalidArgument(
      'read_consistency is unspecified; choose STRONG or EVENTUAL, or leave it out',
      'ReadConsistency must be specified.',
    )
  throw invalidArgument(`read_consistency ${value} is unknown; choose STRONG (1) or EVENTUAL (2)`)
}

/** The id of a transaction; the engine checks whether there is one. */
export function transactionIdOf(transaction: Uint8Array): Uint8Array {
  if (transaction.length === 0)
    throw invalidArgument(
      'the transaction is empty; give the bytes of a begun transaction',
      'a transaction cannot be the empty string.',
    )
  return transaction
}

/** A transaction without a mode is read-write. */
export function transactionOptionsOf(options: WireTransactionOptions): TransactionOptions {
  const { readWrite, readOnly } = options
  if (readOnly !== null) {
    if (readOnly.readTime === null) return { mode: 'readOnly' }
    return { mode: 'readOnly', readTime: exactMicrosOf(readOnly.readTime, 'read_time') }
  }
  const previous = readWrite?.previousTransaction
  return previous === undefined || previous.length === 0
    ? { mode: 'readWrite' }
    : { mode: 'readWrite', previousTransaction: previous }
}
