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
import { StepRing } from './step-ring.ts'

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
/** Load of this time counts as recent: three columns of the second tier. */
const recentMs = 30_000
/** With fewer operations in a second, only a new range has a front. */
const frontMin = 4

/** Three measures for each tier. */
function newRings(): StepRing[] {
  return heatTiers.map(({ stepMs, columns }) => new StepRing(stepMs, columns, group, new Float32Array(columns * group)))
}

function addAll(rings: readonly StepRing[], others: readonly StepRing[]): void {
  for (const [tier, ring] of rings.entries()) ring.addAll(others[tier] as StepRing)
}

/** The place of a division, and the side that gets the load so far. */
export interface Division {
  readonly at: RowKey
  readonly load: 'left' | 'right' | 'both'
}

/** The lowest and the highest of some keys. */
interface Span {
  lowest?: RowKey
  highest?: RowKey
}

export class HeatRange {
  readonly start: RowKey
  #load = newRings()
  /** Made at the first wait, refusal or tombstone. */
  #trouble: StepRing[] | undefined
  /** Operations, weighted by age. */
  load = 0
  /** The keys of the running second, and of the last earlier one with operations. */
  #keys: Span = {}
  #keysBefore: Span = {}
  /** Ring of the latest keys. A division leaves places empty until they are overwritten. */
  #recent: (RowKey | undefined)[] = []
  #noted = 0
  /** Operations of the running second: all, those above all keys of the second before, and those below. */
  #touches = 0
  #highs = 0
  #lows = 0

  constructor(start: RowKey) {
    this.start = start
  }

  keep(rowKey: RowKey | undefined): void {
    this.#recent[this.#noted++ % recentMax] = rowKey
  }

  /** Notes the key of an operation, for the front of a recorded second. */
  touch(rowKey: RowKey): void {
    this.#touches++
    this.#reach(rowKey)
    const { lowest, highest } = this.#keysBefore
    if (highest === undefined || rowKey > highest) this.#highs++
    if (lowest === undefined || rowKey < lowest) this.#lows++
  }

  #reach(rowKey: RowKey | undefined): void {
    if (rowKey === undefined) return
    const { lowest, highest } = this.#keys
    if (highest === undefined || rowKey > highest) this.#keys.highest = rowKey
    if (lowest === undefined || rowKey < lowest) this.#keys.lowest = rowKey
  }

  add(tier: number, nowMs: number, reads: number, writes: number, bytes: number): void {
    this.#load[tier]?.addThree(nowMs, reads, writes, bytes)
  }

  addTrouble(nowMs: number, waitMs: number, refused: number, tombstones: number): void {
    this.#trouble ??= newRings()
    for (const ring of this.#trouble) ring.addThree(nowMs, waitMs, refused, tombstones)
  }

  /** The value in a column of a tier. @param measure - place in {@link heatMeasures} */
  value(tier: number, step: number, measure: number): number {
    const rings = measure < group ? this.#load : this.#trouble
    return rings?.[tier]?.value(step, measure % group) ?? 0
  }

  /** All measures of a column; `undefined` if it is empty. */
  values(tier: number, step: number): readonly number[] | undefined {
    const values = heatMeasures.map((_, measure) => this.value(tier, step, measure))
    return values.some((value) => value > 0) ? values : undefined
  }

  recentLoad(nowMs: number): number {
    const [reads = 0, writes = 0] = this.#load[1]?.totals(nowMs, recentMs) ?? []
    return reads + writes
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
    if (this.#touches > 0) this.#keysBefore = this.#keys
    this.#keys = {}
    this.#touches = 0
    this.#highs = 0
    this.#lows = 0
  }

  join(other: HeatRange): void {
    addAll(this.#load, other.#load)
    if (other.#trouble !== undefined) {
      this.#trouble ??= newRings()
      addAll(this.#trouble, other.#trouble)
    }
    this.load += other.load
    for (const key of other.#recent) this.keep(key)
    const { highest = other.#keysBefore.highest, lowest = other.#keysBefore.lowest } = other.#keys
    for (const key of [highest, lowest, this.#keysBefore.highest, this.#keysBefore.lowest]) this.#reach(key)
    this.#endDivided()
  }

  /** The keys so far count as those of the second before. */
  #endDivided(): void {
    this.#touches = this.#keys.highest === undefined ? 0 : 1
    this.restartSecond()
  }

  /** Keeps the keys before the place. @returns the range from there on */
  divide({ at, load }: Division): HeatRange {
    const right = new HeatRange(at)
    if (load === 'both') {
      right.#load = this.#load.map((ring) => ring.halved())
      right.#trouble = this.#trouble?.map((ring) => ring.halved())
      this.load /= 2
      right.load = this.load
    } else if (load === 'right') {
      ;[right.#load, right.#trouble, right.load] = [this.#load, this.#trouble, this.load]
      ;[this.#load, this.#trouble, this.load] = [newRings(), undefined, 0]
    }
    const keys = this.#recent
    this.#recent = []
    const reached = [this.#keys.lowest, ...keys, this.#keys.highest]
    this.#keysBefore = {}
    this.#keys = {}
    for (const key of keys) (key !== undefined && key < at ? this : right).keep(key)
    for (const key of reached) if (key !== undefined) (key < at ? this : right).#reach(key)
    this.#endDivided()
    right.#endDivided()
    // The next keys are beyond the place: the range on their side starts there, without a gap.
    if (load === 'left') right.#keysBefore.lowest = at
    if (load === 'right') this.#keysBefore.highest = at
    return right
  }

  /** Its bounds up to the front of a moving load, which has not been beyond. @param end - of the range */
  reached(end: RowKey | undefined): { readonly start: RowKey; readonly end: RowKey | undefined } {
    const { start } = this
    const { lowest, highest } = this.#keys
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
    const { lowest, highest } = this.#keys
    if (this.rises && highest !== undefined) {
      const at = rowAfter(highest)
      return end === undefined || at < end ? { at, load: 'left' } : undefined
    }
    if (this.falls && lowest !== undefined && lowest > this.start) return { at: lowest, load: 'right' }
    return undefined
  }
}
