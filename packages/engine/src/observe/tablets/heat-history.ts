/**
 * Load per key range over time, for heat maps. Ranges are narrower than tablets where the load is, so load that moves along the
 * keys shows as a diagonal, even if the tablets stay.
 *
 *   ranges  at most heatRowsMax a table; they partition its row keys, and each has its columns in every tier (heat-range.ts)
 *
 * A range with more than its share of the load is divided at the middle of its latest keys; each half gets half of its load, as
 * an estimate. To make room, the two neighbours with the fewest operations are joined; their load is added. An operation counts
 * half after {@link halfLifeMs}. Sums stay the same, and memory is ranges × tiers × columns.
 */
import { lowerBound } from '../../lower-bound.ts'
import type { RowKey } from '../../storage/kv.ts'
import type { TableId } from '../../tables/table.ts'
import { type Division, HeatRange, heatMeasures, heatTiers, type Tier } from './heat-range.ts'
import type { HeatColumnReport } from './report.ts'

/** A recording has columns of one second, those of the first tier. */
const { stepMs } = heatTiers[0] as (typeof heatTiers)[number]
/** A range with more than this many times the average load is divided. */
const hotFactor = 2
/** Heat maps reach back a day. */
const halfLifeMs = 12 * 3_600_000
/** Maximum number of ranges of a table that are divided in a recorded second. */
const divisionsMax = 8
/** Minimum for the maximum number of ranges of a table during a recording. */
const recordedRowsMax = 256

interface Bounds {
  readonly start: RowKey
  readonly end: RowKey | undefined
}

/** A range over time: its reads, its writes and its bytes, each by column. */
interface HeatRow extends Bounds {
  readonly measures: readonly (readonly number[])[]
}

export interface HeatCell extends Bounds {
  /** In the order of {@link heatMeasures}. */
  readonly values: readonly number[]
}

/** One time slot of one table: its ranges with load, in order. */
export interface HeatColumn extends Omit<HeatColumnReport, 'cells'> {
  readonly cells: HeatCells
}

/** Cells in some 40 bytes each, since a recording keeps those of an hour. */
export class HeatCells implements Iterable<HeatCell> {
  /** Start and end of each cell. */
  readonly #bounds: readonly (RowKey | undefined)[]
  /** In the precision in which a range counts them. */
  readonly #values: Float32Array

  constructor(cells: readonly HeatCell[]) {
    this.#bounds = cells.flatMap(({ start, end }) => [start, end])
    this.#values = Float32Array.from(cells.flatMap(({ values }) => values))
  }

  get length(): number {
    return this.#bounds.length / 2
  }

  *[Symbol.iterator](): Iterator<HeatCell> {
    for (let i = 0; i < this.length; i++) {
      const values = heatMeasures.map((_, measure) => this.#values[i * heatMeasures.length + measure] as number)
      yield { start: this.#bounds[2 * i] as RowKey, end: this.#bounds[2 * i + 1], values }
    }
  }
}

export class HeatHistory {
  readonly #tables = new Map<TableId, HeatRange[]>()
  rowsMax: number
  #adaptedMs: number | undefined
  /** During a recording, {@link seal} is called each second and divides ranges instead of {@link adapt}. */
  isRecorded = false

  constructor(rowsMax: number) {
    this.rowsMax = rowsMax
  }

  clear(): void {
    this.#tables.clear()
  }

  /** Adds load that comes at once, or is spread evenly from now on: in every tier, one part per column. */
  add(
    table: TableId,
    rowKey: RowKey,
    nowMs: number,
    reads: number,
    writes: number,
    bytes: number,
    spreadMs: number = 0,
  ): void {
    const range = this.#rangeOf(table, rowKey)
    range.keep(rowKey)
    if (this.isRecorded) range.touch(rowKey)
    range.load += reads + writes
    for (let tier = 0; tier < heatTiers.length; tier++) {
      const parts = Math.max(1, Math.ceil(spreadMs / (heatTiers[tier] as Tier).stepMs))
      const apart = spreadMs / parts
      for (let i = 0; i < parts; i++) {
        range.add(tier, nowMs + (i + 0.5) * apart, reads / parts, writes / parts, bytes / parts)
      }
    }
  }

  /** Operations that waited for a server, were refused, or passed deleted rows. Their load is added separately. */
  addTrouble(table: TableId, rowKey: RowKey, nowMs: number, waitMs: number, refused: number, tombstones: number): void {
    if (waitMs === 0 && refused === 0 && tombstones === 0) return
    const range = this.#rangeOf(table, rowKey)
    // A refused operation is no load, but its key was used.
    if (refused > 0 && this.isRecorded) range.touch(rowKey)
    range.addTrouble(nowMs, waitMs, refused, tombstones)
  }

  adapt(nowMs: number): void {
    const fading = 0.5 ** (Math.max(0, nowMs - (this.#adaptedMs ?? nowMs)) / halfLifeMs)
    this.#adaptedMs = nowMs
    for (const ranges of this.#tables.values()) {
      for (const range of ranges) range.load *= fading
      if (this.isRecorded) continue
      while (ranges.length > this.rowsMax) if (joinColdest(ranges) === undefined) break
      divideHottest(ranges, nowMs, this.rowsMax, (range) => range.middle())
    }
  }

  /** The columns of a completed second, by table. Then divides ranges for the next one, more readily than {@link adapt}. */
  seal(second: number): HeatColumn[] {
    const columns = [...this.#columns(0, second, (range, end) => range.reached(end))]
    const rowsMax = Math.max(this.rowsMax, recordedRowsMax)
    const divisionOf = (range: HeatRange, end: RowKey | undefined): Division | undefined =>
      range.isTouched ? (range.frontier(end) ?? range.middle()) : undefined
    for (const ranges of this.#tables.values()) {
      for (let i = 0; i < divisionsMax; i++) if (!divideHottest(ranges, second * stepMs, rowsMax, divisionOf)) break
      for (const range of ranges) range.restartSecond()
    }
    return columns
  }

  *#columns(
    tier: number,
    step: number,
    boundsOf: (range: HeatRange, end: RowKey | undefined) => Bounds,
  ): Iterable<HeatColumn> {
    const { stepMs } = heatTiers[tier] as Tier
    for (const [table, ranges] of this.#tables) {
      const cells: HeatCell[] = []
      for (const [i, range] of ranges.entries()) {
        const values = range.values(tier, step)
        if (values === undefined) continue
        const { start, end } = boundsOf(range, ranges[i + 1]?.start)
        cells.push({ start, end, values })
      }
      if (cells.length > 0) yield { table, atMs: step * stepMs, stepMs, cells: new HeatCells(cells) }
    }
  }

  /** The kept columns of a tier between two instants, oldest first. */
  *tierColumns(tier: number, fromMs: number, toMs: number): Iterable<HeatColumn> {
    const { stepMs, columns } = heatTiers[tier] as Tier
    const last = Math.ceil(toMs / stepMs)
    for (let step = Math.max(Math.floor(fromMs / stepMs), last - columns); step < last; step++) {
      yield* this.#columns(tier, step, ({ start }, end) => ({ start, end }))
    }
  }

  tables(): readonly TableId[] {
    return [...this.#tables.keys()].sort()
  }

  /** Columns of the ranges of a table, oldest first. Above `rowsMax`, the neighbours with the least load are joined. */
  cells(table: TableId, tier: number, firstStep: number, columns: number, rowsMax: number): HeatRow[] {
    const ranges = this.#tables.get(table) ?? []
    const rows: HeatRow[] = ranges.map((range, i) => ({
      start: range.start,
      end: ranges[i + 1]?.start,
      measures: [0, 1, 2].map((measure) =>
        Array.from({ length: columns }, (_, column) => range.value(tier, firstStep + column, measure)),
      ),
    }))
    const loads = rows.map(({ measures: [reads = [], writes = []] }) => sumOf(reads) + sumOf(writes))
    while (rows.length > Math.max(1, rowsMax)) {
      const place = coldestPair(loads) ?? 0
      const [left, right] = [rows[place] as HeatRow, rows[place + 1] as HeatRow]
      const measures = left.measures.map((values, i) => added(values, right.measures[i] as readonly number[]))
      rows.splice(place, 2, { start: left.start, end: right.end, measures })
      loads.splice(place, 2, (loads[place] as number) + (loads[place + 1] as number))
    }
    return rows
  }

  #rangeOf(table: TableId, rowKey: RowKey): HeatRange {
    const ranges = this.#tables.get(table)
    if (ranges === undefined) {
      const range = new HeatRange('')
      this.#tables.set(table, [range])
      return range
    }
    const next = lowerBound(ranges.length, (place) => (ranges[place] as HeatRange).start <= rowKey, 1)
    return ranges[next - 1] as HeatRange
  }
}

/**
 * Divides the hottest range that can be divided, if it has more than its share of the load of the last half minute. At the maximum
 * number of ranges, the two coldest neighbours are joined.
 *
 * @returns whether a range was divided
 */
function divideHottest(
  ranges: HeatRange[],
  nowMs: number,
  rowsMax: number,
  divisionOf: (range: HeatRange, end: RowKey | undefined) => Division | undefined,
): boolean {
  const loads = ranges.map((range) => range.recentLoad(nowMs))
  let most = (hotFactor * sumOf(loads)) / rowsMax
  let hottest: HeatRange | undefined
  let division: Division | undefined
  for (const [i, range] of ranges.entries()) {
    const load = loads[i] as number
    const here = load > most ? divisionOf(range, ranges[i + 1]?.start) : undefined
    if (here !== undefined) [most, hottest, division] = [load, range, here]
  }
  if (hottest === undefined || division === undefined) return false
  if (ranges.length >= rowsMax && joinColdest(ranges, ranges.indexOf(hottest)) === undefined) return false
  ranges.splice(ranges.indexOf(hottest) + 1, 0, hottest.divide(division))
  return true
}

function joinColdest(ranges: HeatRange[], keep?: number): number | undefined {
  const place = coldestPair(
    ranges.map(({ load }) => load),
    keep,
  )
  if (place === undefined) return undefined
  ;(ranges[place] as HeatRange).join(ranges[place + 1] as HeatRange)
  ranges.splice(place + 1, 1)
  return place
}

/** The place of the two neighbours with the least load together, of those without the range at `keep`. */
function coldestPair(loads: readonly number[], keep?: number): number | undefined {
  let [place, least]: [number | undefined, number] = [undefined, Number.POSITIVE_INFINITY]
  for (let i = 0; i + 1 < loads.length; i++) {
    if (i === keep || i + 1 === keep) continue
    const sum = (loads[i] as number) + (loads[i + 1] as number)
    if (sum < least) [place, least] = [i, sum]
  }
  return place
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}

function added(a: readonly number[], b: readonly number[]): number[] {
  return a.map((value, i) => value + (b[i] as number))
}
