/**
 * A tablet: contiguous rows of one table that are served together, with their load and size.
 *
 *   rows [start, end) of a table     start '' and end undefined: open to either side
 *
 * TB1  Flows under way belong to the tablet of their row, also after splits and merges.
 * TB2  `total` only grows: the totals of all tablets, dead ones included, add up to all charges.
 *
 * Rows and bytes are counted from writes. A split divides them, and its middle row is found, by a uniform sample of the keys
 * of written rows, so both are estimates after a split (ours).
 */
import type { Random } from '../../random.ts'
import type { RowKey } from '../../storage/kv.ts'
import type { TableId } from '../../tables/table.ts'
import { LoadSample } from './load-sample.ts'
import type { SplitRefusal, WadingScans } from './report.ts'
import { Tombstones } from './tombstones.ts'
import { LoadWindow } from './window.ts'

const rowSampleSize = 128
/** A scan that goes over fewer deleted rows is quick enough. */
const wadingMin = 256

/** An operation that stands for many, spread evenly over a time: per tick so many reads, writes, bytes. */
export interface Flow {
  readonly rowKey: RowKey
  readonly reads: number
  readonly writes: number
  readonly bytes: number
  /** Cost on its server, row operations a second. */
  readonly costPerSecond: number
  readonly endsMs: number
  tablet: Tablet
  /** Where it stands among its tablet's flows. */
  place: number
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
  /** Scans that went over far more deleted rows than they found, and the latest of them. */
  wading: WadingScans | undefined
  unavailableUntilMs = 0
  /** After a move its server has nothing of it in memory until then. */
  coldUntilMs = 0
  /** When it came of a split, or was cut by one. */
  splitAtMs: number = Number.NEGATIVE_INFINITY
  splitRefusal: SplitRefusal | undefined
  /** When the wish to split it was last refused in an event. */
  refusedMs = 0
  /** Since when its window counts: its own birth, or the last split that made it smaller. */
  bornMs: number
  window: LoadWindow
  sample: LoadSample = new LoadSample()
  readonly flows: Flow[] = []
  /** Sums over `flows`, per tick. */
  flowReads = 0
  flowWrites = 0
  flowBytes = 0
  /** Row operations charged to it. */
  total = 0
  /** Load of the decision window, as of the last decision. */
  opsPerSecond = 0
  #rowSample: RowKey[] = []
  #rowsSeen = 0

  constructor(table: TableId, id: number, start: RowKey, end: RowKey | undefined, server: number, nowMs: number) {
    this.table = table
    this.id = id
    this.start = start
    this.end = end
    this.server = server
    this.bornMs = nowMs
    this.window = new LoadWindow(nowMs)
  }

  count(nowMs: number, reads: number, writes: number, bytes: number): void {
    this.window.add(nowMs, reads, writes, bytes)
    this.total += reads + writes
  }

  /** A scan went over deleted rows on its way to those that it found. */
  noteScan(rows: number, tombstones: number): void {
    if (tombstones < wadingMin || tombstones <= rows) return
    this.wading = { scans: (this.wading?.scans ?? 0) + 1, rows, tombstones }
  }

  addFlow(flow: Flow): void {
    flow.tablet = this
    flow.place = this.flows.length
    this.flows.push(flow)
    this.flowReads += flow.reads
    this.flowWrites += flow.writes
    this.flowBytes += flow.bytes
  }

  removeFlow(flow: Flow): void {
    // The last one takes its place.
    const last = this.flows.pop()
    if (last !== undefined && last !== flow) {
      this.flows[flow.place] = last
      last.place = flow.place
    }
    if (this.flows.length === 0) {
      // Sums of fractions do not come back to exactly nothing.
      this.flowReads = 0
      this.flowWrites = 0
      this.flowBytes = 0
      return
    }
    this.flowReads -= flow.reads
    this.flowWrites -= flow.writes
    this.flowBytes -= flow.bytes
  }

  /** A row came to be. Keeps each with the same chance. */
  noteRow(rowKey: RowKey, random: Random): void {
    this.#rowsSeen++
    if (this.#rowSample.length < rowSampleSize) {
      this.#rowSample.push(rowKey)
      return
    }
    const place = random.integer(this.#rowsSeen)
    if (place < rowSampleSize) this.#rowSample[place] = rowKey
  }

  rowSample(): readonly RowKey[] {
    return this.#rowSample
  }

  /** Gives the rows from `at` on to `right`, which is new; both begin to count their load anew. */
  cut(right: Tablet, at: RowKey, nowMs: number): void {
    const share = this.#shareFrom(at)
    right.rows = this.rows * share
    right.bytes = this.bytes * share
    this.rows -= right.rows
    this.bytes -= right.bytes
    right.tombstones = this.tombstones.cut(at)
    right.#rowSample = this.#rowSample.filter((key) => key >= at)
    right.#rowsSeen = Math.round(this.#rowsSeen * share)
    this.#rowSample = this.#rowSample.filter((key) => key < at)
    this.#rowsSeen -= right.#rowsSeen
    for (const flow of [...this.flows]) {
      if (flow.rowKey < at) continue
      this.removeFlow(flow)
      right.addFlow(flow)
    }
    this.end = at
    this.splitAtMs = nowMs
    right.splitAtMs = nowMs
    right.unavailableUntilMs = this.unavailableUntilMs
    right.coldUntilMs = this.coldUntilMs
    this.restartWindow(nowMs)
  }

  /** Counts its load anew from here on. */
  restartWindow(nowMs: number): void {
    this.bornMs = nowMs
    this.window = new LoadWindow(nowMs)
    this.sample = new LoadSample()
    this.splitRefusal = undefined
    if (this.unavailableUntilMs - nowMs > 60_000) this.unavailableUntilMs = 0
    // A clock that was set back: nothing lies in a time to come.
    if (this.splitAtMs > nowMs) this.splitAtMs = Number.NEGATIVE_INFINITY
  }

  /** Takes its right neighbour in. */
  absorb(right: Tablet, nowMs: number): void {
    this.end = right.end
    this.rows += right.rows
    this.bytes += right.bytes
    this.total += right.total
    this.splitAtMs = Math.max(this.splitAtMs, right.splitAtMs)
    this.tombstones.append(right.tombstones)
    this.window.addAll(nowMs, right.window)
    this.#rowSample = [...this.#rowSample, ...right.#rowSample].filter(
      (_, i, all) => all.length <= rowSampleSize || i % 2 === 0,
    )
    this.#rowsSeen += right.#rowsSeen
    for (const flow of [...right.flows]) {
      right.removeFlow(flow)
      this.addFlow(flow)
    }
  }

  #shareFrom(at: RowKey): number {
    const { length } = this.#rowSample
    if (length === 0) return 0.5
    let right = 0
    for (const key of this.#rowSample) if (key >= at) right++
    return right / length
  }
}
