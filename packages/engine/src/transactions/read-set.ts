/**
 * The read set of a transaction: single rows, also absent ones, and the key ranges of its scans. It serves locks and
 * validation.
 *
 *   get ToDo:5                     rows:  the Entities row of ToDo:5
 *   scan done=false, first 10      spans: [start of the scan, just after the 10th row); up to the end of the range if the scan is at its end
 *
 * Any write that would change the result of a read writes or deletes a row of the set; so ranges keep out phantoms. A join may
 * skip rows by seeking. They are in no span, but another scan of the join found nothing there, and its span covers that.
 *
 * The bytes of a set, and of all sets with one budget, are bounded; a read that would exceed a bound is refused.
 */
import type { RequestContext } from '../context.ts'
import { DatastoreError, invalidArgument } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Footprint } from '../log/footprint.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { KeyRange, KvRow, RowKey } from '../storage/kv.ts'
import { rangeOfRow, rowAfter } from '../tables/rows.ts'
import type { RowScan, ScanDirection, TableId, TableView } from '../tables/table.ts'
import { SpanTree } from './span-tree.ts'

/** Estimated bytes of a row or span besides its keys, in the read set and among the locks. */
const entryBytes = 128

/** The bytes of the read sets of all transactions, and their maximum. */
export interface ReadBudget {
  bytes: number
  readonly bytesMax: number
}

export class ReadSet {
  readonly #budget: ReadBudget | undefined
  #bytes = 0
  #rows: Set<RowKey> | undefined
  #spans: SpanTree<true> | undefined

  constructor(budget?: ReadBudget) {
    this.#budget = budget
  }

  get isEmpty(): boolean {
    return this.#rows === undefined && this.#spans === undefined
  }

  get size(): number {
    return (this.#rows?.size ?? 0) + (this.#spans?.size ?? 0)
  }

  rows(): readonly RowKey[] {
    return [...(this.#rows ?? [])]
  }

  get spans(): readonly KeyRange[] {
    return this.#spans?.ranges() ?? []
  }

  get hasSpans(): boolean {
    return this.#spans !== undefined
  }

  addRow(row: RowKey): void {
    if (this.#rows?.has(row) === true) return
    this.charge(row.length)
    this.#rows ??= new Set()
    this.#rows.add(row)
  }

  addSpan(start: RowKey, end: RowKey): void {
    const span = { start, end }
    if (start >= end || this.#spans?.get(span) !== undefined) return
    this.charge(start.length + end.length)
    this.#spans ??= new SpanTree()
    this.#spans.add(span, true)
  }

  /** Adds what another set of the same budget has read; that set reads no more. */
  addAll(other: ReadSet): void {
    if (this.#bytes === 0) {
      this.#takeOver(other)
      return
    }
    for (const row of other.rows()) this.addRow(row)
    for (const { start, end } of other.spans) this.addSpan(start, end)
  }

  /** Moves everything into a new set without a budget. */
  removeAll(): ReadSet {
    const all = new ReadSet()
    all.#takeOver(this)
    if (this.#budget !== undefined) this.#budget.bytes -= all.#bytes
    this.clear()
    return all
  }

  #takeOver(other: ReadSet): void {
    this.#bytes = other.#bytes
    this.#rows = other.#rows
    this.#spans = other.#spans
    // Bytes count once.
    other.#bytes = 0
  }

  /** Accounts for a kept key of `bytes` bytes. @throws DatastoreError INVALID_ARGUMENT, RESOURCE_EXHAUSTED */
  charge(bytes: number): void {
    const more = bytes + entryBytes
    const { transactionReadBytesMax } = limits
    if (this.#bytes + more > transactionReadBytesMax) {
      throw invalidArgument(
        `the transaction has read keys and key ranges of ${this.#bytes} bytes, and this read adds more; at most ` +
          `${transactionReadBytesMax} are allowed. Read less in one transaction, or begin it read-only: then it has no such limit`,
      )
    }
    if (this.#budget !== undefined) {
      const { bytes: all, bytesMax } = this.#budget
      if (all + more > bytesMax) {
        throw new DatastoreError(
          'RESOURCE_EXHAUSTED',
          `open transactions have read keys and key ranges of ${all} bytes, and this read adds more than the ${bytesMax} that are ` +
            'allowed for all together; commit some or roll them back, or start the server with a higher --max-transaction-bytes',
        )
      }
      this.#budget.bytes += more
    }
    this.#bytes += more
  }

  has(row: RowKey): boolean {
    return this.#rows?.has(row) === true || this.#spanHas(row)
  }

  /** The first row of a commit that was read. Index rows are made only where spans are. */
  hitBy(footprint: Omit<Footprint, 'groups'>): RowKey | undefined {
    if (this.isEmpty) return undefined
    for (const range of footprint.ranges ?? []) if (this.overlaps(range)) return range.start
    for (const row of footprint.entityRows) if (this.has(row)) return row
    if (this.#spans === undefined) return undefined
    for (const row of footprint.indexRows((range) => this.#spansOverlap(range))) if (this.#spanHas(row)) return row
    return undefined
  }

  #spanHas(row: RowKey): boolean {
    return this.#spansOverlap(rangeOfRow(row))
  }

  #spansOverlap(range: KeyRange): boolean {
    return this.#spans?.some(range, () => true) === true
  }

  overlaps(range: KeyRange): boolean {
    const isIn = (row: RowKey): boolean => range.start <= row && row < range.end
    for (const row of this.#rows ?? []) if (isIn(row)) return true
    return this.#spansOverlap(range)
  }

  clear(): void {
    if (this.#budget !== undefined) this.#budget.bytes -= this.#bytes
    this.#bytes = 0
    this.#rows = undefined
    this.#spans = undefined
  }
}

/** A view that adds everything that is read through it to a read set. */
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
    this.#noteRow(table, row)
    return this.#view.get(context, table, row)
  }

  getAll(
    context: RequestContext,
    table: TableId,
    rows: readonly RowKey[],
  ): MaybePromise<readonly (Uint8Array | undefined)[] | undefined> {
    if (this.#view.getAll === undefined) return undefined
    for (const row of rows) this.#noteRow(table, row)
    return this.#view.getAll(context, table, rows)
  }

  #noteRow(table: TableId, row: RowKey): void {
    if (table === 'Entities') this.#reads.addRow(row)
    else this.#reads.addSpan(row, rowAfter(row))
  }

  scan(context: RequestContext, table: TableId, range: KeyRange, options: ScanDirection = {}): RowScan {
    const scan = this.#view.scan(context, table, range, options)
    return new TrackedScan(scan, range, options.reverse === true, this.#reads)
  }
}

class TrackedScan implements RowScan {
  readonly #scan: RowScan
  readonly #range: KeyRange
  readonly #reverse: boolean
  readonly #reads: ReadSet
  /** Start and end of the present span; `undefined` until something was read. */
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
    // A reverse scan that seeks to a key may return the row of that key, so the span ends just after it.
    this.#from = this.#reverse ? rowAfter(key) : key
    this.#scan.seek(key)
  }

  close(): void {
    this.#finish()
    this.#scan.close()
  }

  #note(rows: readonly KvRow[]): readonly KvRow[] {
    const last = rows.at(-1)?.key
    if (this.#reverse) this.#to = last ?? this.#range.start
    else this.#to = last === undefined ? this.#range.end : rowAfter(last)
    return rows
  }

  #finish(): void {
    if (this.#to === undefined) return
    if (this.#reverse) this.#reads.addSpan(this.#to, this.#from)
    else this.#reads.addSpan(this.#from, this.#to)
    this.#to = undefined
  }
}
