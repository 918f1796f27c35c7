/** Ranges of rows that start alike. Codes are prefix-free, so a bound is a code appended to a prefix. */
import { prefixEnd } from '../encoding/bytes.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'

/** An end of a range inside a prefix: a code as it stands in the row, so inverted where the column is descending. */
export interface Bound {
  readonly code: string
  /** Whether rows that go on with exactly this code belong to the range. */
  readonly inclusive: boolean
}

/** All rows whose key starts with `prefix`. */
export function prefixRange(prefix: RowKey): KeyRange {
  return { start: prefix, end: prefixEnd(prefix) }
}

/** The rows that start with `prefix` and go on between two codes, in the order of the row keys. */
export function boundedRange(prefix: RowKey, low: Bound | undefined, high: Bound | undefined): KeyRange {
  return {
    start: low === undefined ? prefix : low.inclusive ? prefix + low.code : prefixEnd(prefix + low.code),
    end: high === undefined ? prefixEnd(prefix) : high.inclusive ? prefixEnd(prefix + high.code) : prefix + high.code,
  }
}

/** The smallest row key after `rowKey`: where a scan goes on after that row. */
export function rowAfter(rowKey: RowKey): RowKey {
  return `${rowKey}\x00`
}

/** Whether a range can hold no row. */
export function isEmptyRange(range: KeyRange): boolean {
  return range.start >= range.end
}

/** The rows in both ranges. */
export function intersectRanges(a: KeyRange, b: KeyRange): KeyRange {
  let { start, end } = a
  if (b.start > start) start = b.start
  if (b.end < end) end = b.end
  return { start, end }
}
