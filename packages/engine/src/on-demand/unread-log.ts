/**
 * Log rows before their first scan, in a list beside the tree.
 *
 *   rows    [ –  –  –  r3  r4  r5  r6 ]      in the order in which they were written, and are deleted
 *   values  [ –  –  –  v3  v4  v5  v6 ]
 *              start ──┘            └── end
 *
 * Most records are written and trimmed without a read of the past. In a tree each would cost two random accesses, in a list none. A
 * record is found by its commitVersion, the last eight bytes of its key, which grows along the list (commit-log/L1). A commit to 5,000
 * groups has 5,000 records of one version, in no order: the first read of such a record moves the list into the tree.
 *
 * The lists are only appended to; any other change makes new lists, so a view never changes. A row is either here or in the tree.
 */
import { lowerBound } from '../lower-bound.ts'
import type { KvRow, RowKey } from '../storage/kv.ts'

/** Log rows that move into the tree in one step. */
export const logRowsPerStep = 1024

export interface UnreadRows {
  readonly rows: readonly RowKey[]
  readonly values: readonly Uint8Array[]
  readonly start: number
  readonly end: number
}

export const nothingUnread: UnreadRows = { rows: [], values: [], start: 0, end: 0 }

export class UnreadLog {
  #rows: RowKey[] = []
  #values: Uint8Array[] = []
  #start = 0
  /** Number of rows from `start` on. */
  size = 0

  add(row: RowKey, value: Uint8Array): void {
    this.#rows.push(row)
    this.#values.push(value)
    this.size++
  }

  /** Drops a row if it is the oldest, since the log is trimmed from there. @returns whether it was */
  dropOldest(row: RowKey): boolean {
    if (this.#rows[this.#start] !== row) return false
    this.#moveTo(this.#start + 1)
    return true
  }

  takeOldest(count: number): UnreadRows {
    const { rows, values, start, end } = this.view()
    const next = Math.min(start + count, end)
    this.#moveTo(next)
    return { rows, values, start, end: next }
  }

  #moveTo(start: number): void {
    this.size -= start - this.#start
    this.#start = start
    // Until then the lists keep what was dropped.
    if (start > 1024 && start * 8 > this.#rows.length) this.restore(this.view())
  }

  view(): UnreadRows {
    return { rows: this.#rows, values: this.#values, start: this.#start, end: this.#rows.length }
  }

  restore({ rows, values, start, end }: UnreadRows): void {
    this.#rows = rows.slice(start, end)
    this.#values = values.slice(start, end)
    this.#start = 0
    this.size = this.#rows.length
  }

  clear(): void {
    this.restore(nothingUnread)
  }
}

/** Rows of one version that a search looks at: with all of them, reads of a whole commit would cost the square of its groups. */
const sameVersionMax = 128

/** The value of a row; `undefined` is no proof of absence: versions may fall along the list, or the commit has many groups. */
export function valueIn({ rows, values, start, end }: UnreadRows, row: RowKey): Uint8Array | undefined {
  const version = versionCodeOf(row)
  const next = lowerBound(end, (place) => versionCodeOf(rows[place] as RowKey) <= version, start)
  const first = Math.max(start, next - sameVersionMax)
  for (let at = next - 1; at >= first; at--) {
    const found = rows[at] as RowKey
    if (found === row) return values[at]
    if (versionCodeOf(found) !== version) return undefined
  }
  return undefined
}

function versionCodeOf(row: RowKey): string {
  return row.slice(-8)
}

export function listed({ rows, values, start, end }: UnreadRows): KvRow[] {
  return rows.slice(start, end).map((key, at) => ({ key, value: values[start + at] as Uint8Array }))
}
