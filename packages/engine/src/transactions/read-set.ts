/**
 * The read set of a transaction: single rows, also absent ones, and the ranges of tables that its scans covered.
 *
 *   rows    keys of rows of Entities that were asked for
 *   spans   [start, end) from where a scan began, or sought to, up to just after the last row it gave; to the end of the
 *           range when it was exhausted
 *
 * S1  A write that changes what a read would give writes, or deletes, a row in the read's set.
 *     Rows that a join passed over by seeking are in no span: another of its scans had nothing there, and that is in one.
 *
 * Known: phantoms are kept out by locking index ranges. Ours: one set for locks and for validation.
 */
import type { RequestContext } from '../context.ts'
import type { Footprint } from '../log/commit-input.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { KeyRange, KvRow, RowKey } from '../storage/kv.ts'
import type { RowScan, TableId, TableView } from '../tables/table.ts'

const noSpans: readonly KeyRange[] = []

export class ReadSet {
  /** Rows of Entities. Most transactions read one: it stands by itself. */
  #row: RowKey | undefined
  #otherRows: Set<RowKey> | undefined
  #spans: KeyRange[] | undefined

  get isEmpty(): boolean {
    return this.#row === undefined && this.#spans === undefined
  }

  /** The rows of Entities that were asked for. */
  rows(): readonly RowKey[] {
    return this.#row === undefined ? [] : [this.#row, ...(this.#otherRows ?? [])]
  }

  /** The stretches of tables that were scanned. */
  get spans(): readonly KeyRange[] {
    return this.#spans ?? noSpans
  }

  /** A row of Entities was asked for. */
  addRow(row: RowKey): void {
    if (this.#row === undefined) this.#row = row
    else {
      this.#otherRows ??= new Set()
      this.#otherRows.add(row)
    }
  }

  addSpan(start: RowKey, end: RowKey): void {
    if (start >= end) return
    this.#spans ??= []
    this.#spans.push({ start, end })
  }

  /** Takes over what another set has read, which is not used any more. */
  addAll(other: ReadSet): void {
    if (this.isEmpty) {
      this.#row = other.#row
      this.#otherRows = other.#otherRows
      this.#spans = other.#spans
      return
    }
    if (other.#row !== undefined) this.addRow(other.#row)
    for (const row of other.#otherRows ?? []) this.addRow(row)
    for (const { start, end } of other.#spans ?? []) this.addSpan(start, end)
  }

  /** Whether it has read a row, of whatever table. */
  has(row: RowKey): boolean {
    return this.#row === row || this.#otherRows?.has(row) === true || this.#spanHas(row)
  }

  /** The first of some rows that it has read; `undefined` when it has read none. */
  firstHit(rows: Iterable<RowKey>): RowKey | undefined {
    for (const row of rows) if (this.has(row)) return row
    return undefined
  }

  /** The first row of a commit that it has read. Index rows are in spans alone, and made only where there are any. */
  hitBy({ entityRows, indexRows, ranges }: Omit<Footprint, 'groups'>): RowKey | undefined {
    if (this.isEmpty) return undefined
    for (const range of ranges ?? []) if (this.overlaps(range)) return range.start
    for (const row of entityRows) if (this.has(row)) return row
    if (this.#spans === undefined) return undefined
    for (const row of indexRows()) if (this.#spanHas(row)) return row
    return undefined
  }

  #spanHas(row: RowKey): boolean {
    if (this.#spans === undefined) return false
    for (const { start, end } of this.#spans) if (start <= row && row < end) return true
    return false
  }

  /** Whether anything in a range of rows was read. */
  overlaps(range: KeyRange): boolean {
    const isIn = (row: RowKey): boolean => range.start <= row && row < range.end
    if (this.#row !== undefined && isIn(this.#row)) return true
    for (const row of this.#otherRows ?? []) if (isIn(row)) return true
    return this.#spans?.some(({ start, end }) => start < range.end && range.start < end) === true
  }

  clear(): void {
    this.#row = undefined
    this.#otherRows = undefined
    this.#spans = undefined
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

  get moment(): bigint | undefined {
    return this.#view.moment
  }

  get(context: RequestContext, table: TableId, row: RowKey): MaybePromise<Uint8Array | undefined> {
    if (table === 'Entities') this.#reads.addRow(row)
    else this.#reads.addSpan(row, `${row}\x00`)
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
    return andThen(this.#scan.next(count), (rows) => this.#note(rows))
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
