/** Converts ReadOptions and TransactionOptions of the API to the engine's. */
import { invalidArgument, type ReadConsistency, type ReadOptions, type TransactionOptions } from '@sixtables/engine'
import type {
  Int64,
  Timestamp,
  ReadOptions as WireReadOptions,
  TransactionOptions as WireTransactionOptions,
} from '#gen/wire.js'

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

export function bigintOf({ low, high }: Int64): bigint {
  return (BigInt(high) << 32n) | BigInt(low >>> 0)
}

/** 0001-01-01 and 9999-12-31 in seconds. */
const secondsMin = -62_135_596_800n
const secondsMax = 253_402_300_799n

/** Microseconds since the epoch. @throws for a time out of range or with nanoseconds: as a version it must be exact */
export function exactMicrosOf({ seconds, nanos }: Timestamp, what: string): bigint {
  const whole = bigintOf(seconds)
  if (whole < secondsMin || whole > secondsMax) {
    throw invalidArgument(`${what} has ${whole} seconds: the years 1 to 9999 are allowed`)
  }
  if (nanos < 0 || nanos > 999_999_999) {
    throw invalidArgument(`${what} has ${nanos} nanoseconds: 0 to 999999999 are allowed`)
  }
  if (nanos % 1000 !== 0) {
    throw invalidArgument(
      `${what} is finer than microseconds: its nanoseconds are ${nanos}, give a multiple of 1000`,
      'timestamp cannot have more than microseconds precision',
    )
  }
  return whole * 1_000_000n + BigInt(nanos / 1000)
}
