/**
 * Ranges of rows that a store still has and no reader finds any more, while they are deleted.
 *
 *   range of a scan     |─────────────────────────────|
 *   hidden                  |▒▒▒▒▒|        |▒▒▒▒▒▒▒▒▒▒▒▒▒|
 *   parts that it reads |───|     |────────|
 *
 * V1  A scan of the parts answers what a scan of the range would if the hidden rows were not there, over seeks too.
 *                                                                          hidden-ranges.test.ts
 */
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { KeyRange, KvRow, KvScan, RowKey } from './kv.ts'

export function isHidden(hidden: readonly KeyRange[], key: RowKey): boolean {
  return hidden.some(({ start, end }) => start <= key && key < end)
}

/** The parts of a range outside of all `hidden` ones, ascending; none when it has no other rows. */
export function visibleParts(range: KeyRange, hidden: readonly KeyRange[]): readonly KeyRange[] {
  const parts: KeyRange[] = []
  let from = range.start
  for (const { start, end } of hidden.toSorted((a, b) => (a.start < b.start ? -1 : 1))) {
    if (start >= end || end <= from) continue
    if (start >= range.end) break
    if (from < start) parts.push({ start: from, end: start })
    from = end
  }
  if (from < range.end) parts.push({ start: from, end: range.end })
  return parts
}

/** One scan over the parts of a range, in order. */
export class PartedScan implements KvScan {
  /** In scan order. */
  readonly #parts: readonly KeyRange[]
  readonly #reverse: boolean
  readonly #open: (part: KeyRange) => KvScan
  readonly #onClose: () => void
  /** The part that `#scan` reads. */
  #at = 0
  #scan: KvScan | undefined
  #closed = false

  /**
   * @param parts - disjoint, ascending
   * @param open - a scan of one part, in the direction and at one version of the store; asked again until `onClose` is called
   */
  constructor(parts: readonly KeyRange[], reverse: boolean, open: (part: KeyRange) => KvScan, onClose: () => void) {
    this.#parts = reverse ? parts.toReversed() : parts
    this.#reverse = reverse
    this.#open = open
    this.#onClose = onClose
  }

  next(count: number): MaybePromise<readonly KvRow[]> {
    const part = this.#parts[this.#at]
    if (this.#closed || part === undefined) return []
    this.#scan ??= this.#open(part)
    const scan = this.#scan
    return andThen(scan.next(count), (rows) => {
      if (rows.length > 0) return rows
      // A seek that came meanwhile has chosen another part already.
      if (scan === this.#scan) this.#moveTo(this.#at + 1)
      return this.next(count)
    })
  }

  seek(key: RowKey): void {
    if (this.#closed) return
    const isBefore = ({ start, end }: KeyRange): boolean => (this.#reverse ? start > key : end <= key)
    const first = this.#parts.findIndex((part) => !isBefore(part))
    const at = first < 0 ? this.#parts.length : first
    if (at !== this.#at) this.#moveTo(at)
    const part = this.#parts[at]
    if (part === undefined) return
    this.#scan ??= this.#open(part)
    this.#scan.seek(key)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#moveTo(this.#parts.length)
    this.#onClose()
  }

  #moveTo(at: number): void {
    this.#scan?.close()
    this.#scan = undefined
    this.#at = at
  }
}
