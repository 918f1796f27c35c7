/**
 * Load per key range over time, for pictures: finer than tablets where it is hot, so that a load that moves along the keys
 * shows as a diagonal even where tablets do not follow it.
 *
 *   tiers   1 s × 2 min · 10 s × 20 min · 1 min × 2 h · 10 min × 1 day         one column a step
 *   ranges  at most heatRowsMax a table, each with its columns in every tier
 *
 * H1  Ranges partition the row keys of a table.
 * H2  Joining ranges adds up their columns; dividing one halves its columns, as an estimate. Sums stay.
 * H3  Memory is bounded: ranges × tiers × columns. A range is divided at the middle of its latest keys when it has more
 *     than its share of the load; to make room, the two neighbours with the fewest operations are joined, where an
 *     operation counts half after {@link halfLifeMs}.
 */
import { lowerBound } from '../lower-bound.ts'
import type { RowKey } from '../storage/kv.ts'
import type { TableId } from '../tables/table.ts'

interface Tier {
  readonly stepMs: number
  readonly columns: number
}

export const heatTiers: readonly Tier[] = [
  { stepMs: 1_000, columns: 120 },
  { stepMs: 10_000, columns: 120 },
  { stepMs: 60_000, columns: 120 },
  { stepMs: 600_000, columns: 144 },
]

const measures = 3
const recentMax = 16
/** A range with more than so many times its even share is divided. */
const hotFactor = 2
/** Columns of the second tier that say what is hot now. */
const recentColumns = 3
/** Pictures reach back a day. */
const halfLifeMs = 12 * 3_600_000

/** Columns of one range: for each tier a ring of [reads, writes, bytes]. */
class HeatRange {
  readonly start: RowKey
  readonly #rings = heatTiers.map(({ columns }) => new Float32Array(columns * measures))
  readonly #steps = heatTiers.map(({ columns }) => new Int32Array(columns).fill(-1))
  /** Operations, older ones for less. */
  load = 0
  /** Latest keys, a ring. */
  recent: RowKey[] = []
  #noted = 0

  constructor(start: RowKey) {
    this.start = start
  }

  note(rowKey: RowKey): void {
    this.recent[this.#noted++ % recentMax] = rowKey
  }

  add(nowMs: number, reads: number, writes: number, bytes: number): void {
    this.load += reads + writes
    for (let tier = 0; tier < heatTiers.length; tier++) this.addTier(tier, nowMs, reads, writes, bytes)
  }

  addTier(tier: number, nowMs: number, reads: number, writes: number, bytes: number): void {
    const { stepMs, columns } = heatTiers[tier] as Tier
    const step = Math.floor(nowMs / stepMs)
    this.#addTo(tier, step % columns, step % 0x7fff_ffff, reads, writes, bytes)
  }

  #addTo(tier: number, column: number, step: number, reads: number, writes: number, bytes: number): void {
    const ring = this.#rings[tier] as Float32Array
    const steps = this.#steps[tier] as Int32Array
    const at = column * measures
    if (steps[column] !== step) {
      steps[column] = step
      ring[at] = reads
      ring[at + 1] = writes
      ring[at + 2] = bytes
      return
    }
    ring[at] = (ring[at] as number) + reads
    ring[at + 1] = (ring[at + 1] as number) + writes
    ring[at + 2] = (ring[at + 2] as number) + bytes
  }

  /** The value in a column of a tier: `measure` 0 reads, 1 writes, 2 bytes. */
  value(tier: number, step: number, measure: number): number {
    const column = step % (heatTiers[tier] as Tier).columns
    if ((this.#steps[tier] as Int32Array)[column] !== step % 0x7fff_ffff) return 0
    return (this.#rings[tier] as Float32Array)[column * measures + measure] as number
  }

  /** Operations of the last half minute. */
  recentLoad(nowMs: number): number {
    const step = Math.floor(nowMs / (heatTiers[1] as Tier).stepMs)
    let sum = 0
    for (let i = 0; i < recentColumns; i++) sum += this.value(1, step - i, 0) + this.value(1, step - i, 1)
    return sum
  }

  /** Takes in the columns and keys of a neighbour. */
  join(other: HeatRange): void {
    for (let tier = 0; tier < heatTiers.length; tier++) {
      const steps = other.#steps[tier] as Int32Array
      const ring = other.#rings[tier] as Float32Array
      for (let column = 0; column < steps.length; column++) {
        const step = steps[column] as number
        if (step < 0 || step < ((this.#steps[tier] as Int32Array)[column] as number)) continue
        const at = column * measures
        this.#addTo(tier, column, step, ring[at] as number, ring[at + 1] as number, ring[at + 2] as number)
      }
    }
    this.load += other.load
    for (const key of other.recent) this.note(key)
  }

  /** Keeps the keys before `at`, and half of each column. @returns the range from `at` on */
  divide(at: RowKey): HeatRange {
    const right = new HeatRange(at)
    for (const [tier, ring] of this.#rings.entries()) {
      for (let i = 0; i < ring.length; i++) ring[i] = (ring[i] as number) / 2
      right.#rings[tier]?.set(ring)
      right.#steps[tier]?.set(this.#steps[tier] as Int32Array)
    }
    this.load /= 2
    right.load = this.load
    const keys = this.recent
    this.recent = []
    for (const key of keys) (key < at ? this : right).note(key)
    return right
  }
}

export interface HeatCells {
  readonly table: TableId
  readonly start: RowKey
  readonly end: RowKey | undefined
  readonly reads: number[]
  readonly writes: number[]
  readonly bytes: number[]
}

export class HeatHistory {
  readonly #tables = new Map<TableId, HeatRange[]>()
  #rowsMax: number
  #adaptedMs: number | undefined

  constructor(rowsMax: number) {
    this.#rowsMax = rowsMax
  }

  set rowsMax(rowsMax: number) {
    this.#rowsMax = rowsMax
  }

  clear(): void {
    this.#tables.clear()
  }

  add(table: TableId, rowKey: RowKey, nowMs: number, reads: number, writes: number, bytes: number): void {
    const range = this.#rangeOf(table, rowKey)
    range.note(rowKey)
    range.add(nowMs, reads, writes, bytes)
  }

  /** Load that lies evenly over a time from now on, in every tier in as many parts as it has steps. */
  addSpread(
    table: TableId,
    rowKey: RowKey,
    nowMs: number,
    spreadMs: number,
    { reads, writes, bytes }: { readonly reads: number; readonly writes: number; readonly bytes: number },
  ): void {
    const range = this.#rangeOf(table, rowKey)
    range.note(rowKey)
    range.load += reads + writes
    for (let tier = 0; tier < heatTiers.length; tier++) {
      const { stepMs } = heatTiers[tier] as Tier
      const parts = Math.max(1, Math.ceil(spreadMs / stepMs))
      const apart = spreadMs / parts
      for (let i = 0; i < parts; i++) {
        range.addTier(tier, nowMs + (i + 0.5) * apart, reads / parts, writes / parts, bytes / parts)
      }
    }
  }

  /** Divides hot ranges and makes room by joining cold ones; called now and then. */
  adapt(nowMs: number): void {
    const fading = 0.5 ** (Math.max(0, nowMs - (this.#adaptedMs ?? nowMs)) / halfLifeMs)
    this.#adaptedMs = nowMs
    for (const ranges of this.#tables.values()) {
      for (const range of ranges) range.load *= fading
      this.#adaptTable(ranges, nowMs)
    }
  }

  #adaptTable(ranges: HeatRange[], nowMs: number): void {
    const loads = ranges.map((range) => range.recentLoad(nowMs))
    const total = loads.reduce((sum, load) => sum + load, 0)
    if (total === 0) return
    const share = (hotFactor * total) / this.#rowsMax
    let hottest = -1
    let at: RowKey | undefined
    for (let i = 0; i < ranges.length; i++) {
      if ((loads[i] as number) <= Math.max(share, loads[hottest] ?? 0)) continue
      const division = divisionOf(ranges[i] as HeatRange)
      if (division === undefined) continue
      hottest = i
      at = division
    }
    if (at === undefined) return
    if (ranges.length >= this.#rowsMax) {
      const joined = joinColdest(ranges, hottest)
      if (joined === undefined) return
      if (joined < hottest) hottest--
    }
    ranges.splice(hottest + 1, 0, (ranges[hottest] as HeatRange).divide(at))
  }

  tables(): readonly TableId[] {
    return [...this.#tables.keys()].sort()
  }

  /** Columns of a table's ranges, oldest first; `rowsMax` joins neighbours, those with the least load first. */
  cells(table: TableId, tier: number, firstStep: number, columns: number, rowsMax: number): HeatCells[] {
    const ranges = this.#tables.get(table) ?? []
    const rows: HeatCells[] = ranges.map((range, i) => {
      const column = (measure: number): number[] =>
        Array.from({ length: columns }, (_, c) => range.value(tier, firstStep + c, measure))
      return {
        table,
        start: range.start,
        end: ranges[i + 1]?.start,
        reads: column(0),
        writes: column(1),
        bytes: column(2),
      }
    })
    const loads = rows.map(({ reads, writes }) => sumOf(reads) + sumOf(writes))
    while (rows.length > Math.max(1, rowsMax)) {
      let [place, least] = [0, Number.POSITIVE_INFINITY]
      for (let i = 0; i + 1 < rows.length; i++) {
        const sum = (loads[i] as number) + (loads[i + 1] as number)
        if (sum < least) [place, least] = [i, sum]
      }
      const [left, right] = [rows[place] as HeatCells, rows[place + 1] as HeatCells]
      rows.splice(place, 2, {
        table,
        start: left.start,
        end: right.end,
        reads: added(left.reads, right.reads),
        writes: added(left.writes, right.writes),
        bytes: added(left.bytes, right.bytes),
      })
      loads.splice(place, 2, least)
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

/** @returns the place of the pair that became one */
function joinColdest(ranges: HeatRange[], keep: number): number | undefined {
  let [place, least] = [-1, Number.POSITIVE_INFINITY]
  for (let i = 0; i + 1 < ranges.length; i++) {
    if (i === keep || i + 1 === keep) continue
    const sum = (ranges[i] as HeatRange).load + (ranges[i + 1] as HeatRange).load
    if (sum < least) [place, least] = [i, sum]
  }
  if (place < 0) return undefined
  ;(ranges[place] as HeatRange).join(ranges[place + 1] as HeatRange)
  ranges.splice(place + 1, 1)
  return place
}

/** The middle of the latest keys, where that divides the range. */
function divisionOf({ start, recent }: HeatRange): RowKey | undefined {
  if (recent.length < recentMax) return undefined
  const keys = [...recent].sort()
  const middle = keys[keys.length / 2]
  if (middle !== undefined && middle > start && middle > (keys[0] as RowKey)) return middle
  return keys.find((key) => key > (keys[0] as RowKey) && key > start)
}

function sumOf(numbers: readonly number[]): number {
  let sum = 0
  for (const number of numbers) sum += number
  return sum
}

function added(a: readonly number[], b: readonly number[]): number[] {
  return a.map((value, i) => value + (b[i] as number))
}
