/**
 * One key range of the heat history: its load in every tier, and the lowest and highest row key of the running second.
 *
 *   tiers   1 s × 2 min · 10 s × 20 min · 1 min × 2 h · 10 min × 1 day         one column a step
 *
 * A load on ToDo:1, ToDo:2, ToDo:3 … rises: its keys of a second lie above those of the second before. The range is then
 * divided at this front, and all its load so far stays with the keys so far. A division at the middle of the latest keys halves
 * the columns, as an estimate. Joining adds them. Sums stay the same.
 */
import type { RowKey } from '../../storage/kv.ts'
import { rowAfter } from '../../tables/rows.ts'

export interface Tier {
  readonly stepMs: number
  readonly columns: number
}

export const heatTiers: readonly Tier[] = [
  { stepMs: 1_000, columns: 120 },
  { stepMs: 10_000, columns: 120 },
  { stepMs: 60_000, columns: 120 },
  { stepMs: 600_000, columns: 144 },
]

/** Measures of a cell, in the order of its numbers. The second three are rare, and have memory only if they occur. */
export const heatMeasures = ['reads', 'writes', 'bytes', 'waitMs', 'refused', 'tombstones'] as const

const group = 3
const recentMax = 16
/** Columns of the second tier that count as recent. */
const recentColumns = 3
/** With fewer operations in a second, only a new range has a front. */
const frontMin = 4

/** Three measures of one range: one ring per tier. */
class Rings {
  readonly #rings = heatTiers.map(({ columns }) => new Float32Array(columns * group))

  add(tier: number, column: number, a: number, b: number, c: number): void {
    const ring = this.#rings[tier] as Float32Array
    const at = column * group
    ring[at] = (ring[at] as number) + a
    ring[at + 1] = (ring[at + 1] as number) + b
    ring[at + 2] = (ring[at + 2] as number) + c
  }

  clear(tier: number, column: number): void {
    this.#rings[tier]?.fill(0, column * group, (column + 1) * group)
  }

  value(tier: number, column: number, measure: number): number {
    return this.#rings[tier]?.[column * group + measure] ?? 0
  }

  halve(): Rings {
    const other = new Rings()
    for (const [tier, ring] of this.#rings.entries()) {
      for (let i = 0; i < ring.length; i++) ring[i] = (ring[i] as number) / 2
      other.#rings[tier]?.set(ring)
    }
    return other
  }
}

/** The place of a division, and the side that gets the load so far. */
export interface Division {
  readonly at: RowKey
  readonly load: 'left' | 'right' | 'both'
}

export class HeatRange {
  readonly start: RowKey
  #load = new Rings()
  /** Made at the first wait, refusal or tombstone. */
  #trouble: Rings | undefined
  readonly #steps = heatTiers.map(({ columns }) => new Int32Array(columns).fill(-1))
  /** Operations, weighted by age. */
  load = 0
  lowest: RowKey | undefined
  highest: RowKey | undefined
  /** Ring of the latest keys. A division leaves places empty until they are overwritten. */
  #recent: (RowKey | undefined)[] = []
  #noted = 0
  /** Lowest and highest key of the last earlier second with operations. */
  #lowestBefore: RowKey | undefined
  #highestBefore: RowKey | undefined
  /** Operations of the running second: all, those above all keys of the second before, and those below. */
  #touches = 0
  #highs = 0
  #lows = 0

  constructor(start: RowKey) {
    this.start = start
  }

  /** Notes the key of an operation, for divisions at the middle. */
  keep(rowKey: RowKey | undefined): void {
    this.#recent[this.#noted++ % recentMax] = rowKey
  }

  /** Notes the key of an operation, for the front of a recorded second. */
  touch(rowKey: RowKey): void {
    this.#touches++
    this.#reach(rowKey)
    if (this.#highestBefore === undefined || rowKey > this.#highestBefore) this.#highs++
    if (this.#lowestBefore === undefined || rowKey < this.#lowestBefore) this.#lows++
  }

  #reach(rowKey: RowKey | undefined): void {
    if (rowKey === undefined) return
    if (this.highest === undefined || rowKey > this.highest) this.highest = rowKey
    if (this.lowest === undefined || rowKey < this.lowest) this.lowest = rowKey
  }

  add(nowMs: number, reads: number, writes: number, bytes: number): void {
    this.load += reads + writes
    for (let tier = 0; tier < heatTiers.length; tier++) this.addTier(tier, nowMs, reads, writes, bytes)
  }

  addTier(tier: number, nowMs: number, reads: number, writes: number, bytes: number): void {
    this.#load.add(tier, this.#columnOf(tier, nowMs), reads, writes, bytes)
  }

  addTrouble(nowMs: number, waitMs: number, refused: number, tombstones: number): void {
    this.#trouble ??= new Rings()
    for (let tier = 0; tier < heatTiers.length; tier++) {
      this.#trouble.add(tier, this.#columnOf(tier, nowMs), waitMs, refused, tombstones)
    }
  }

  #columnOf(tier: number, nowMs: number): number {
    const { stepMs, columns } = heatTiers[tier] as Tier
    const step = Math.floor(nowMs / stepMs)
    const column = step % columns
    this.#turnTo(tier, column, step % 0x7fff_ffff)
    return column
  }

  #turnTo(tier: number, column: number, step: number): void {
    const steps = this.#steps[tier] as Int32Array
    if (steps[column] === step) return
    steps[column] = step
    this.#load.clear(tier, column)
    this.#trouble?.clear(tier, column)
  }

  /** The value in a column of a tier. @param measure - place in {@link heatMeasures} */
  value(tier: number, step: number, measure: number): number {
    const column = step % (heatTiers[tier] as Tier).columns
    if ((this.#steps[tier] as Int32Array)[column] !== step % 0x7fff_ffff) return 0
    if (measure < group) return this.#load.value(tier, column, measure)
    return this.#trouble?.value(tier, column, measure - group) ?? 0
  }

  /** All measures of a column; `undefined` if it is empty. */
  values(tier: number, step: number): readonly number[] | undefined {
    const values = heatMeasures.map((_, measure) => this.value(tier, step, measure))
    return values.some((value) => value > 0) ? values : undefined
  }

  recentLoad(nowMs: number): number {
    const step = Math.floor(nowMs / (heatTiers[1] as Tier).stepMs)
    let sum = 0
    for (let i = 0; i < recentColumns; i++) sum += this.value(1, step - i, 0) + this.value(1, step - i, 1)
    return sum
  }

  /** Whether most keys of the running second are above all of the second before. For a new range, its first keys decide. */
  get rises(): boolean {
    return this.#hasFront && 2 * this.#highs >= this.#touches
  }

  /** Whether most keys of the running second are below all of the second before. */
  get falls(): boolean {
    return this.#hasFront && 2 * this.#lows >= this.#touches
  }

  get #hasFront(): boolean {
    return this.#touches >= frontMin || (this.#touches > 0 && this.#noted < recentMax)
  }

  /** Whether operations began in the running second; flows from earlier do not count. */
  get isTouched(): boolean {
    return this.#touches > 0
  }

  restartSecond(): void {
    if (this.#touches > 0) {
      this.#lowestBefore = this.lowest
      this.#highestBefore = this.highest
    }
    this.lowest = undefined
    this.highest = undefined
    this.#touches = 0
    this.#highs = 0
    this.#lows = 0
  }

  join(other: HeatRange): void {
    for (let tier = 0; tier < heatTiers.length; tier++) {
      const steps = other.#steps[tier] as Int32Array
      for (let column = 0; column < steps.length; column++) {
        const step = steps[column] as number
        if (step < 0 || step < ((this.#steps[tier] as Int32Array)[column] as number)) continue
        this.#turnTo(tier, column, step)
        const of = (rings: Rings, measure: number): number => rings.value(tier, column, measure)
        this.#load.add(tier, column, of(other.#load, 0), of(other.#load, 1), of(other.#load, 2))
        const trouble = other.#trouble
        if (trouble === undefined) continue
        this.#trouble ??= new Rings()
        this.#trouble.add(tier, column, of(trouble, 0), of(trouble, 1), of(trouble, 2))
      }
    }
    this.load += other.load
    for (const key of other.#recent) this.keep(key)
    this.#reach(other.highest ?? other.#highestBefore)
    this.#reach(other.lowest ?? other.#lowestBefore)
    this.#reach(this.#highestBefore)
    this.#reach(this.#lowestBefore)
    this.#endDivided()
  }

  /** The keys so far count as those of the second before. */
  #endDivided(): void {
    this.#touches = this.highest === undefined ? 0 : 1
    this.restartSecond()
  }

  /** Keeps the keys before the place. @returns the range from there on */
  divide({ at, load }: Division): HeatRange {
    const right = new HeatRange(at)
    for (const [tier, steps] of this.#steps.entries()) right.#steps[tier]?.set(steps)
    if (load === 'both') {
      right.#load = this.#load.halve()
      right.#trouble = this.#trouble?.halve()
      this.load /= 2
      right.load = this.load
    } else if (load === 'right') {
      ;[right.#load, right.#trouble, right.load] = [this.#load, this.#trouble, this.load]
      ;[this.#load, this.#trouble, this.load] = [new Rings(), undefined, 0]
    }
    const keys = this.#recent
    this.#recent = []
    this.#lowestBefore = undefined
    this.#highestBefore = undefined
    const reached = [this.lowest, ...keys, this.highest]
    this.lowest = undefined
    this.highest = undefined
    for (const key of keys) (key !== undefined && key < at ? this : right).keep(key)
    for (const key of reached) if (key !== undefined) (key < at ? this : right).#reach(key)
    this.#endDivided()
    right.#endDivided()
    // The next keys are beyond the place: the range on their side starts there, without a gap.
    if (load === 'left') right.#lowestBefore = at
    if (load === 'right') this.#highestBefore = at
    return right
  }

  /** Its bounds up to the front of a moving load, which has not been beyond. @param end - of the range */
  reached(end: RowKey | undefined): { readonly start: RowKey; readonly end: RowKey | undefined } {
    const { start, lowest, highest } = this
    return {
      start: this.falls && lowest !== undefined ? lowest : start,
      end: this.rises && highest !== undefined ? rowAfter(highest) : end,
    }
  }

  /** The middle of the latest keys, if it divides the range. */
  middle(): Division | undefined {
    if (this.#recent.length < recentMax) return undefined
    const keys = [...this.#recent].sort()
    const lowest = keys[0] ?? ''
    const middle = keys[keys.length / 2]
    if (middle !== undefined && middle > this.start && middle > lowest) return { at: middle, load: 'both' }
    const at = keys.find((key) => key !== undefined && key > lowest && key > this.start)
    return at === undefined ? undefined : { at, load: 'both' }
  }

  /** The place just past the keys of the running second, if they rise (or fall). @param end - end of the range */
  frontier(end: RowKey | undefined): Division | undefined {
    const { start, lowest, highest } = this
    if (this.rises && highest !== undefined) {
      const at = rowAfter(highest)
      return end === undefined || at < end ? { at, load: 'left' } : undefined
    }
    if (this.falls && lowest !== undefined && lowest > start) return { at: lowest, load: 'right' }
    return undefined
  }
}
