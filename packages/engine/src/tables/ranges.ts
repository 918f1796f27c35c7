/** Ranges of row keys. */
import { prefixEnd } from '../encoding/bytes.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'

/** All rows whose key starts with `prefix`. */
export function prefixRange(prefix: RowKey): KeyRange {
  return { start: prefix, end: prefixEnd(prefix) }
}

/** The intersection of some ranges; `undefined` if it is empty. */
export function overlap(...ranges: readonly KeyRange[]): KeyRange | undefined {
  const start = ranges
    .map((range) => range.start)
    .sort()
    .at(-1)
  const end = ranges.map((range) => range.end).sort()[0]
  return start !== undefined && end !== undefined && start < end ? { start, end } : undefined
}

/** The smallest row key after `rowKey`, where a scan continues behind that row. */
export function rowAfter(rowKey: RowKey): RowKey {
  return `${rowKey}\x00`
}
