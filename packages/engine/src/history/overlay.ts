/**
 * Rows laid over a table: each replaces the row below it, or hides it.
 *
 *   rows of the table    a   b       d   e        the store now (or a snapshot)
 *   overlay              .   b'  c   .   e×       b and c have these values, and there is no e
 *   result               a   b'  c   d
 */
import type { RequestContext } from '../context.ts'
import { type MaybePromise, runSteps, type Steps, waitFor } from '../maybe-promise.ts'
import { giveWay } from '../slices.ts'
import type { KeyRange, KvRow, RowKey, WriteSink } from '../storage/kv.ts'
import { MemoryKv, type MemoryScan } from '../storage/memory-kv.ts'
import type { RowScan, ScanDirection, TableView } from '../tables/table.ts'

/** The value of a row that hides the one below; compared by identity. */
const hidden = new Uint8Array(0)
/** Estimated bytes of a row in the tree besides its key and value. */
const rowOverhead = 64

export class Overlay implements WriteSink {
  readonly #rows = new MemoryKv()
  bytes = 0

  /** @param value - `undefined` hides the row below */
  write(row: RowKey, value: Uint8Array | undefined): void {
    this.#rows.write(row, value ?? hidden)
    this.bytes += row.length + (value?.length ?? 0) + rowOverhead
  }

  /** {@link write}, unless the overlay has the row already. */
  writeFirst(row: RowKey, value: Uint8Array | undefined): void {
    if (this.#rows.get(row) === undefined) this.write(row, value)
  }

  /** @param below - reads the row below, if the overlay has none */
  get(row: RowKey, below: () => MaybePromise<Uint8Array | undefined>): MaybePromise<Uint8Array | undefined> {
    const value = this.#rows.get(row)
    if (value === undefined) return below()
    return value === hidden ? undefined : value
  }

  /** A scan of the result, without later writes to the overlay. @param below - of the same range and direction */
  scan(context: RequestContext, below: RowScan, range: KeyRange, { reverse = false }: ScanDirection): RowScan {
    return new OverlaidScan(context, below, this.#rows.scan(range, { reverse }), reverse)
  }
}

/** A view with an overlay, which may contain rows of all tables. */
export function overlaid(below: TableView, overlay: Overlay): TableView {
  return {
    get: (context, table, row) => overlay.get(row, () => below.get(context, table, row)),
    scan: (context, table, range, options = {}) =>
      overlay.scan(context, below.scan(context, table, range, options), range, options),
  }
}

/** After this many hidden rows in sequence the scan yields. */
const hiddenPerStep = 128

class OverlaidScan implements RowScan {
  readonly #context: RequestContext
  readonly #below: RowScan
  readonly #over: MemoryScan
  readonly #reverse: boolean
  /** Rows read from both sides, and how many of them are used up. */
  #belowRows: readonly KvRow[] = []
  #belowAt = 0
  #overRows: readonly KvRow[] = []
  #overAt = 0
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
        // The next row depends on the rows below, which are not loaded.
        if (given.length > 0) break
        this.#belowRows = yield* waitFor(this.#below.next(count))
        this.#belowAt = 0
        this.#exhausted = this.#belowRows.length === 0
        continue
      }
      const over = this.#nextOver(count)
      if (
        over !== undefined &&
        (below === undefined || (this.#reverse ? below.key <= over.key : below.key >= over.key))
      ) {
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

  #nextOver(count: number): KvRow | undefined {
    if (this.#overAt === this.#overRows.length) {
      this.#overRows = this.#over.next(count)
      this.#overAt = 0
    }
    return this.#overRows[this.#overAt]
  }
}
