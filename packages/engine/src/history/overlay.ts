/**
 * Rows that are laid over a table: each takes the place of the row below it, or hides it.
 *
 *   rows of the table    a   b       d   e        the store now (or a snapshot)
 *   laid over            .   b'  c   .   e×       b and c as they are to be seen, and that there is no e
 *   seen                 a   b'  c   d
 */
import type { RequestContext } from '../context.ts'
import { type MaybePromise, runSteps, type Steps, waitFor } from '../maybe-promise.ts'
import { giveWay } from '../slices.ts'
import type { KeyRange, KvRow, RowKey, WriteSink } from '../storage/kv.ts'
import { MemoryKv, type MemoryScan } from '../storage/memory-kv.ts'
import type { RowScan, TableId, TableView } from '../tables/table.ts'

/** The value of a row that hides the one below it, told from others by being this one. */
const hidden = new Uint8Array(0)
/** Bytes of a row in the tree besides its key and value, roughly. */
const rowOverhead = 64

export interface ScanDirection {
  readonly reverse?: boolean
  readonly expect?: number
}

export class Overlay implements WriteSink {
  readonly #rows = new MemoryKv()
  /** Bytes of its rows, roughly. */
  bytes = 0

  /** @param value - `undefined` hides the row below */
  write(row: RowKey, value: Uint8Array | undefined): void {
    this.#rows.write(row, value ?? hidden)
    this.bytes += row.length + (value?.length ?? 0) + rowOverhead
  }

  /** {@link write}, unless the row is laid over already. */
  writeFirst(row: RowKey, value: Uint8Array | undefined): void {
    if (this.#rows.get(row) === undefined) this.write(row, value)
  }

  /** @param below - gives the row below, where none is laid over it */
  get(row: RowKey, below: () => MaybePromise<Uint8Array | undefined>): MaybePromise<Uint8Array | undefined> {
    const value = this.#rows.get(row)
    if (value === undefined) return below()
    return value === hidden ? undefined : value
  }

  /** A scan of the rows that are seen; later writes are not. @param below - a scan of the same range and direction */
  scan(context: RequestContext, below: RowScan, range: KeyRange, { reverse = false }: ScanDirection): RowScan {
    return new OverlaidScan(context, below, this.#rows.scan(range, { reverse }), reverse)
  }
}

/** A view with rows laid over it; rows of all tables may be among them. */
export class OverlaidView implements TableView {
  readonly #below: TableView
  readonly #overlay: Overlay

  constructor(below: TableView, overlay: Overlay) {
    this.#below = below
    this.#overlay = overlay
  }

  get(context: RequestContext, table: TableId, row: RowKey): MaybePromise<Uint8Array | undefined> {
    return this.#overlay.get(row, () => this.#below.get(context, table, row))
  }

  scan(context: RequestContext, table: TableId, range: KeyRange, options: ScanDirection = {}): RowScan {
    return this.#overlay.scan(context, this.#below.scan(context, table, range, options), range, options)
  }
}

/** How many hidden rows are passed over before others may get a turn. */
const hiddenPerStep = 128

class OverlaidScan implements RowScan {
  readonly #context: RequestContext
  readonly #below: RowScan
  readonly #over: MemoryScan
  readonly #reverse: boolean
  /** Rows of both that were read, and how many of them were given or passed over. */
  #belowRows: readonly KvRow[] = []
  #belowAt = 0
  #overRows: readonly KvRow[] = []
  #overAt = 0
  /** Whether there are no rows below any more. */
  #exhausted = false

  constructor(context: RequestContext, below: RowScan, over: MemoryScan, reverse: boolean) {
    this.#context = context
    this.#below = below
    this.#over = over
    this.#reverse = reverse
  }

  next(count: number): MaybePromise<readonly KvRow[]> {
    return runSteps(this.#next(count))
  }

  *#next(count: number): Steps<readonly KvRow[]> {
    const given: KvRow[] = []
    let passed = 0
    while (given.length < count) {
      const below = this.#belowRows[this.#belowAt]
      if (below === undefined && !this.#exhausted) {
        // Which row comes next is known when the rows below are.
        if (given.length > 0) break
        this.#load(yield* waitFor(this.#below.next(count)))
        continue
      }
      const over = this.#nextOver(count)
      if (over !== undefined && (below === undefined || !this.#isBefore(below.key, over.key))) {
        if (below?.key === over.key) this.#belowAt++
        this.#overAt++
        if (over.value !== hidden) given.push(over)
        else if (++passed % hiddenPerStep === 0) yield* waitFor(giveWay(this.#context, hiddenPerStep))
      } else if (below !== undefined) {
        given.push(below)
        this.#belowAt++
      } else break
    }
    return given
  }

  seek(key: RowKey): void {
    this.#belowRows = []
    this.#belowAt = 0
    this.#exhausted = false
    this.#below.seek(key)
    this.#overRows = []
    this.#overAt = 0
    this.#over.seek(key)
  }

  close(): void {
    this.#below.close()
    this.#over.close()
  }

  #load(rows: readonly KvRow[]): void {
    this.#belowRows = rows
    this.#belowAt = 0
    this.#exhausted = rows.length === 0
  }

  #nextOver(count: number): KvRow | undefined {
    if (this.#overAt === this.#overRows.length) {
      this.#overRows = this.#over.next(count)
      this.#overAt = 0
    }
    return this.#overRows[this.#overAt]
  }

  #isBefore(a: RowKey, b: RowKey): boolean {
    return this.#reverse ? a > b : a < b
  }
}
