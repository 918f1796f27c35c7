/**
 * The answer of a read, with its read time and the transaction that began with it. The most frequent answers are written field
 * by field: copying an object and adding a field takes V8 1 µs, and slows down later reads of the fields.
 */
import type { ResultPage } from '../executor/result-page.ts'
import type { Value } from '../model/value.ts'
import type { AggregationBatch, LookupResult, QueryBatch } from './api.ts'
import type { FoundKeys } from './lookup.ts'

export function lookupResult(
  { found, missing, deferred }: FoundKeys,
  readTime: bigint,
  transaction: Uint8Array | undefined,
): LookupResult {
  return transaction === undefined
    ? { found, missing, deferred, readTime }
    : { found, missing, deferred, readTime, transaction }
}

export function queryBatch(page: ResultPage, readTime: bigint, transaction: Uint8Array | undefined): QueryBatch {
  if (transaction !== undefined) return { ...page, readTime, transaction }
  const { resultType, results, skipped, skippedCursor, endCursor, moreResults } = page
  if (skippedCursor !== undefined) return { ...page, readTime }
  return { resultType, results, skipped, endCursor, moreResults, readTime }
}

export function aggregationBatch(
  { values }: { readonly values: ReadonlyMap<string, Value> },
  readTime: bigint,
  transaction: Uint8Array | undefined,
): AggregationBatch {
  return transaction === undefined ? { values, readTime } : { values, readTime, transaction }
}
