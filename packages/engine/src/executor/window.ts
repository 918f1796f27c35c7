/**
 * The window of an answer: the part of the result from a cursor, after an offset, up to a limit, an end cursor, or the maximum
 * size of an answer.
 *
 * W1  Offset counts from the start cursor on, and limit from the offset on.
 * W2  Skipping results reads index rows only; a result whose entity is gone counts as skipped, and nowhere else.
 * W3  An answer's end cursor, with what is left of offset and limit, continues it: the answers put together are the whole
 *     result, with any division into answers.
 * W4  At the end of an answer one row more is read: if there is none, the query is finished.
 *
 * Known: more_results as the API documents it; {@link batchSkippedMax}, from Google's own clients. Measured: 300 results on
 * the legacy emulator, and in answers of production that others have published; W4 on the Firestore emulator, where a limit
 * of 0 alone is answered without a look.
 */
import type { Query } from '../model/query.ts'
import type { Plan } from '../planner/plan-node.ts'
import { beginningOf, type CursorPlace, decodeCursor } from './cursor.ts'

export interface Window {
  readonly start: CursorPlace
  /** Results behind it are left out. */
  readonly end: CursorPlace | undefined
  readonly offset: number
  /** `undefined` = no limit. */
  readonly limit: number | undefined
  /** Cut the answer after that many results, or before it passes that many bytes; one result always fits. */
  readonly resultsMax: number
  /** Cut the answer after that many results of the offset. */
  readonly skippedMax: number
  readonly resultBytesMax: number
  /** Whether an answer that reached the limit says so even if no results follow. */
  readonly saysLimit: boolean
}

export interface AnswerLimits {
  /** Default: {@link batchResultsMax}. */
  readonly maxResults?: number | undefined
  /** Default: {@link batchSkippedMax}. */
  readonly maxSkipped?: number | undefined
  /** Default: what keeps the answer below the 4 MiB that clients accept. */
  readonly maxResultBytes?: number | undefined
  /** Default: false. Measured: Google's legacy emulator, whose users (a cache of gstore-node) take NO_MORE_RESULTS for all there is. */
  readonly saysLimit?: boolean
}

/** Results of a batch at most. */
export const batchResultsMax = 300

/** Results that a batch passes over at most, for an offset. */
export const batchSkippedMax = 1_000

/** Default clients refuse answers above 4 MiB (measured); the margin is for the batch's own fields. */
export const defaultResultBytesMax: number = 4 * 1024 * 1024 - 64 * 1024

/** The window a query asks for. Throws INVALID_ARGUMENT for a cursor that is not one of this query. */
export function windowOf(query: Query, plan: Plan, limits: AnswerLimits = {}): Window {
  return {
    start: query.startCursor?.length ? decodeCursor(plan, query.startCursor, 'start') : beginningOf(plan),
    end: query.endCursor?.length ? decodeCursor(plan, query.endCursor, 'end') : undefined,
    offset: query.offset,
    limit: query.limit,
    resultsMax: limits.maxResults ?? batchResultsMax,
    skippedMax: limits.maxSkipped ?? batchSkippedMax,
    resultBytesMax: limits.maxResultBytes ?? defaultResultBytesMax,
    saysLimit: limits.saysLimit ?? false,
  }
}
