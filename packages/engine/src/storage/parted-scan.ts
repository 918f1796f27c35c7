/**
 * One scan over the parts of a range, which are in different places of a store (areas.ts). The example is a scan of all entities
 * after a reset of project p:
 *
 *   range of the scan   |──────────── E … ────────────|
 *   parts that it reads |── E … E p ──|─ E p ─|─ E q …─|     area 0, area 1, area 0
 *
 * Its caller sees one range, also after seeks. Between two parts may be a gap, whose rows it does not give.
 */
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { KeyRange, KvRow, KvScan, RowKey } from './kv.ts'

export class PartedScan<Part extends KeyRange> implements KvScan {
  /** In scan order. */
  readonly #parts: readonly Part[]
  readonly #reverse: boolean
  readonly #open: (part: Part) => KvScan
  readonly #onClose: () => void
  /** The part that `#scan` reads. */
  #at = 0
  #scan: KvScan | undefined
  #closed = false

  /**
   * @param parts - disjoint, ascending
   * @param open - opens a scan of one part, in the direction and at one version of the store; called until `onClose`
   */
  constructor(parts: readonly Part[], reverse: boolean, open: (part: Part) => KvScan, onClose: () => void) {
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
      // A seek meanwhile has already chosen another part.
      if (scan === this.#scan) this.#moveTo(this.#at + 1)
      return this.next(count)
    })
  }

  seek(key: RowKey): void {
    if (this.#closed) return
    const isBefore = ({ start, end }: Part): boolean => (this.#reverse ? start > key : end <= key)
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
