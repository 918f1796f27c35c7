/**
 * A tablet: neighbouring rows of one table that one server serves, with their load and size.
 *
 *   Entities   ['', ToDo:500)   [ToDo:500, undefined)     '' and undefined: open ends
 *
 * `total` only grows: the totals of all tablets, removed ones included, are the sum of all charges. Rows and bytes are counted
 * from writes. A split divides the counts by a uniform sample of the written keys, so they are estimates afterwards (ours).
 */
import type { Random } from '../../random.ts'
import type { RowKey } from '../../storage/kv.ts'
import type { TableId } from '../../tables/table.ts'
import { LoadSample } from './load-sample.ts'
import type { SplitRefusal, WadingScans } from './report.ts'
import { StepRing } from './step-ring.ts'
import { Tombstones } from './tombstones.ts'

const rowSampleSize = 128
/** A scan that passes fewer deleted rows is fast enough. */
const wadingMin = 256

/** Operations and bytes, in total or a second. */
export interface Load {
  readonly reads: number
  readonly writes: number
  readonly bytes: number
}

export class Tablet {
  readonly table: TableId
  readonly id: number
  readonly start: RowKey
  end: RowKey | undefined
  server: number
  rows = 0
  bytes = 0
  tombstones: Tombstones = new Tombstones()
  wading: WadingScans | undefined
  unavailableUntilMs = 0
  /** Until this time after a move, its new server has none of its rows in memory. */
  coldUntilMs = 0
  splitAtMs: number = Number.NEGATIVE_INFINITY
  splitRefusal: SplitRefusal | undefined
  /** When an event last reported a refused split. */
  refusedMs = 0
  /** The start of its window: its creation, or the last split that cut it. */
  windowStartMs: number
  /** Reads, writes and bytes of the last minute. */
  #window = new StepRing(1_000, 60, 3)
  sample: LoadSample = new LoadSample()
  total = 0
  /** Load of the decision window, at the last decision. */
  opsPerSecond = 0
  /** Evenly drawn keys of its rows, in any order. */
  rowSample: RowKey[] = []
  #rowsSeen = 0

  constructor(table: TableId, id: number, start: RowKey, end: RowKey | undefined, server: number, nowMs: number) {
    this.table = table
    this.id = id
    this.start = start
    this.end = end
    this.server = server
    this.windowStartMs = nowMs
  }

  count(nowMs: number, reads: number, writes: number, bytes: number): void {
    this.#window.addThree(nowMs, reads, writes, bytes)
    this.total += reads + writes
  }

  /** Its load over the last `spanMs`, or since its window began. */
  load(nowMs: number, spanMs: number): Load {
    const [reads = 0, writes = 0, bytes = 0] = this.#window.rates(nowMs, spanMs, this.windowStartMs)
    return { reads, writes, bytes }
  }

  noteScan(rows: number, tombstones: number): void {
    if (tombstones < wadingMin || tombstones <= rows) return
    this.wading = { scans: (this.wading?.scans ?? 0) + 1, rows, tombstones }
  }

  /** Notes a new row. The sample keeps each with the same probability. */
  noteRow(rowKey: RowKey, random: Random): void {
    this.#rowsSeen++
    if (this.rowSample.length < rowSampleSize) {
      this.rowSample.push(rowKey)
      return
    }
    const place = random.integer(this.#rowsSeen)
    if (place < rowSampleSize) this.rowSample[place] = rowKey
  }

  /** Gives the rows from `at` on to `right`, a new tablet; both count their load from now on. */
  cut(right: Tablet, at: RowKey, nowMs: number): void {
    const share = this.#shareFrom(at)
    right.rows = this.rows * share
    right.bytes = this.bytes * share
    this.rows -= right.rows
    this.bytes -= right.bytes
    right.tombstones = this.tombstones.cut(at)
    right.rowSample = this.rowSample.filter((key) => key >= at)
    right.#rowsSeen = Math.round(this.#rowsSeen * share)
    this.rowSample = this.rowSample.filter((key) => key < at)
    this.#rowsSeen -= right.#rowsSeen
    this.end = at
    this.splitAtMs = nowMs
    right.splitAtMs = nowMs
    right.unavailableUntilMs = this.unavailableUntilMs
    right.coldUntilMs = this.coldUntilMs
    this.restartWindow(nowMs)
  }

  /** Counts its load from now on. */
  restartWindow(nowMs: number): void {
    this.windowStartMs = nowMs
    this.#window = new StepRing(1_000, 60, 3)
    this.sample = new LoadSample()
    this.splitRefusal = undefined
    if (this.unavailableUntilMs - nowMs > 60_000) this.unavailableUntilMs = 0
    // The clock was set back: no time may lie in the future.
    if (this.splitAtMs > nowMs) this.splitAtMs = Number.NEGATIVE_INFINITY
  }

  absorb(right: Tablet): void {
    this.end = right.end
    this.rows += right.rows
    this.bytes += right.bytes
    this.total += right.total
    this.splitAtMs = Math.max(this.splitAtMs, right.splitAtMs)
    this.tombstones.append(right.tombstones)
    this.#window.addAll(right.#window)
    this.rowSample = [...this.rowSample, ...right.rowSample].filter(
      (_, i, all) => all.length <= rowSampleSize || i % 2 === 0,
    )
    this.#rowsSeen += right.#rowsSeen
  }

  #shareFrom(at: RowKey): number {
    const { length } = this.rowSample
    if (length === 0) return 0.5
    let right = 0
    for (const key of this.rowSample) if (key >= at) right++
    return right / length
  }
}
