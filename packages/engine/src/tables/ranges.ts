/** Ranges of rows that start alike. */
import { prefixEnd } from '../encoding/bytes.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'

/** All rows whose key starts with `prefix`. */
export function prefixRange(prefix: RowKey): KeyRange {
  return { start: prefix, end: prefixEnd(prefix) }
}

/** The smallest row key after `rowKey`: where a scan goes on after that row. */
export function rowAfter(rowKey: RowKey): RowKey {
  return `${rowKey}\x00`
}
