/**
 * The window of an answer: from a cursor, after an offset, up to a limit, an end cursor or the maximum size of an answer.
 *
 * The offset counts from the start cursor, and the limit from the offset. Skipping reads index rows only, and counts results
 * whose entity is gone. With offset 1,500 the first answer skips 1,000 results; the client sends its end cursor back with the
 * remaining offset of 500. All answers together are the whole result, however it is divided. At the end of an answer one more
 * row is read: if there is none, the query is finished.
 *
 * Known: more_results as the API documents it; {@link batchSkippedMax}, from Google's own clients. Measured: 300 results on
 * the legacy emulator, and in published answers of production; the extra row on the Firestore emulator, which answers a limit
 * of 0 without reading.
 */
import type { Query } from '../model/query.ts'
import type { Plan } from '../planner/plan-node.ts'
import type { Span } from '../planner/spans.ts'
import { boundsFrom, type CursorPlace, decodeCursor } from './cursor.ts'

export interface Window {
  readonly start: CursorPlace | undefined
  /** The positions behind it; `undefined` = all. */
  readonly bounds: Span | undefined
  /** Later results are left out. */
  readonly end: CursorPlace | undefined
  readonly offset: number
  readonly limit: number | undefined
  /** The answer ends after this many results, or before it exceeds `resultBytesMax`; one result always fits. */
  readonly resultsMax: number
  /** The answer ends after skipping this many results of the offset. */
  readonly skippedMax: number
  readonly resultBytesMax: number
  /**
   * Whether an answer that reached the limit says so even if no results follow. Measured: Google's legacy emulator does; its users (a
   * cache of gstore-node) read NO_MORE_RESULTS as "this is all".
   */
  readonly saysLimit: boolean
}

/** Replacements for the defaults of an answer. */
export type AnswerLimits = Partial<Pick<Window, 'resultsMax' | 'skippedMax' | 'resultBytesMax' | 'saysLimit'>>

export const batchResultsMax = 300

export const batchSkippedMax = 1_000

/** Default clients refuse answers above 4 MiB (measured); the margin is for the batch's own fields. */
export const defaultResultBytesMax: number = 4 * 1024 * 1024 - 64 * 1024

/** The window of a query. Throws INVALID_ARGUMENT for a cursor of another query. */
export function windowOf(query: Query, plan: Plan, limits: AnswerLimits = {}): Window {
  const start = query.startCursor?.length ? decodeCursor(plan, query.startCursor, 'start') : undefined
  return {
    start,
    bounds: start && boundsFrom(plan, start),
    end: query.endCursor?.length ? decodeCursor(plan, query.endCursor, 'end') : undefined,
    offset: query.offset,
    limit: query.limit,
    resultsMax: limits.resultsMax ?? batchResultsMax,
    skippedMax: limits.skippedMax ?? batchSkippedMax,
    resultBytesMax: limits.resultBytesMax ?? defaultResultBytesMax,
    saysLimit: limits.saysLimit ?? false,
  }
}
