/**
 * What a transaction has read: single rows, also absent ones, and the stretches of tables that its scans went over.
 *
 *   rows    keys of rows that were asked for
 *   spans   [start, end) from where a scan began, or sought to, up to just after the last row it gave; to the end of the
 *           range when it was exhausted
 *
 * S1  A write that changes what a read would give writes, or deletes, a row in the read's set.
 *     Rows that a join passed over by seeking are in no span: another of its scans had nothing there, and that is in one.
 *
 * Known: phantoms are kept out by locking index ranges. Ours: one set for locks and for validation.
 */
import type { RequestContext } from '../context.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { KeyRange, KvRow, RowKey } from '../storage/kv.ts'
import type { RowScan, TableId, TableView } from '../tables/table.ts'

export class ReadSet {
  readonly #rows = new Set<RowKey>()
  readonly #spans: KeyRange[] = []

  get isEmpty(): boolean {
    return this.#rows.size === 0 && this.#spans.length === 0
  }

  addRow(row: RowKey): void {
    this.#rows.add(row)
  }

  addSpan(start: RowKey, end: RowKey): void {
    if (start < end) this.#spans.push({ start, end })
  }

  addAll(other: ReadSet): void {
    for (const row of other.#rows) this.#rows.add(row)
    this.#spans.push(...other.#spans)
  }

  /** The first of `rows` that this set has read; `undefined` when it has read none. */
  firstHit(rows: readonly RowKey[]): RowKey | undefined {
    if (this.isEmpty) return undefined
    return rows.find((row) => this.#rows.has(row) || this.#spans.some(({ start, end }) => start <= row && row < end))
  }

  /** Whether anything in a range of rows was read. */
  overlaps(range: KeyRange): boolean {
    if (this.#spans.some(({ start, end }) => start < range.end && range.start < end)) return true
    for (const row of this.#rows) if (range.start <= row && row < range.end) return true
    return false
  }

  clear(): void {
    this.#rows.clear()
    this.#spans.length = 0
  }
}

/** A view that notes in a read set whatever is read through it. */
export class TrackedView implements TableView {
  readonly #view: TableView
  readonly #reads: ReadSet

  constructor(view: TableView, reads: ReadSet) {
    this.#view = view
    this.#reads = reads
  }

  get(context: RequestContext, table: TableId, row: RowKey): MaybePromise<Uint8Array | undefined> {
    this.#reads.addRow(row)
    return this.#view.get(context, table, row)
  }

  scan(
    context: RequestContext,
    table: TableId,
    range: KeyRange,
    options: { readonly reverse?: boolean; readonly expect?: number } = {},
  ): RowScan {
    const scan = this.#view.scan(context, table, range, options)
    return new TrackedScan(scan, range, options.reverse === true, this.#reads)
  }
}

class TrackedScan implements RowScan {
  readonly #scan: RowScan
  readonly #range: KeyRange
  readonly #reverse: boolean
  readonly #reads: ReadSet
  /** Where the present stretch began, and how far it went; `undefined` until something was read. */
  #from: RowKey
  #to: RowKey | undefined

  constructor(scan: RowScan, range: KeyRange, reverse: boolean, reads: ReadSet) {
    this.#scan = scan
    this.#range = range
    this.#reverse = reverse
    this.#reads = reads
    this.#from = reverse ? range.end : range.start
  }

  next(count: number): MaybePromise<readonly KvRow[]> {
    const rows = this.#scan.next(count)
    return rows instanceof Promise ? rows.then((late) => this.#note(late)) : this.#note(rows)
  }

  seek(key: RowKey): void {
    this.#finish()
    // A reverse scan that seeks to a key may give the row of that key itself, so the stretch ends just behind it.
    this.#from = this.#reverse ? `${key}\x00` : key
    this.#scan.seek(key)
  }

  close(): void {
    this.#finish()
    this.#scan.close()
  }

  #note(rows: readonly KvRow[]): readonly KvRow[] {
    const last = rows.at(-1)?.key
    if (this.#reverse) this.#to = last ?? this.#range.start
    else this.#to = last === undefined ? this.#range.end : `${last}\x00`
    return rows
  }

  #finish(): void {
    if (this.#to === undefined) return
    if (this.#reverse) this.#reads.addSpan(this.#to, this.#from)
    else this.#reads.addSpan(this.#from, this.#to)
    this.#to = undefined
  }
}
