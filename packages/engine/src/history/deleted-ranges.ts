/**
 * Ranges of rows that a reset deleted together with their log. Their past can no longer be read: after a reset of namespace n
 * at time T, a read of n at T - 1 is refused, while other namespaces can still be read.
 */
import { contention, type DatastoreError, failedPrecondition } from '../errors.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'

export function deletedSince(): DatastoreError {
  return contention('what this transaction reads was deleted by a reset; try again', 'transaction')
}

export function deletedBefore(): DatastoreError {
  return failedPrecondition("The requested 'read_time' is too old. (the data of that time was deleted by a reset)")
}

export function isInAny(ranges: readonly KeyRange[], row: RowKey): boolean {
  return ranges.some(({ start, end }) => start <= row && row < end)
}
