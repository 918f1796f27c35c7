/**
 * The key axis of one table: rows of equal height between bounds, the same for all recordings that are compared.
 *
 *   bounds   '' ─ ToDo:1 ─ ToDo:90 ─ ToDo:120 ─ …        row r lies from bound r to bound r + 1, the last one to the end
 *
 * Rows are not moved by new bounds but by compaction, which is rare: nothing jumps.
 *
 * A1  Bounds ascend, each is there once, and the first is the open start: rows never overlap and leave no gap.   recorded-heat.test.ts
 * A2  There are at most `rowsMax` rows. To make room, neighbours with little load become one.                    recorded-heat.test.ts
 * A3  Brackets, runs of rows with the same database, namespace and kind, lie side by side over all rows of a level, and a level never
 *     joins what the one before it parts.                                                                        heat-tablets.test.ts
 */
import { lowerBound } from './lower-bound.ts'
import type { Bounds } from './recorded-heat.ts'

export const rowsMax = 1_250
const rowsKept = 1_000

export class HeatAxis {
  readonly #bounds: Bounds
  readonly #seen = new Set<number>()
  #starts: string[] = ['']
  #places: number[]
  #rows = new Map<number, number>()
  version = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
    this.#places = [bounds.placeOf({ hex: '', words: '', levels: [] })]
  }

  get count(): number {
    return this.#starts.length
  }

  /** Place of the bound at which a row begins; of the open end behind the last row. */
  placeAt(row: number): number {
    return this.#places[row] ?? (this.#places[0] as number)
  }

  hexAt(row: number): string {
    return this.#starts[row] ?? ''
  }

  /** Takes in bounds. @param loadOf - the load of each row, for when there are too many */
  add(places: Iterable<number>, loadOf: () => ArrayLike<number>): void {
    const added: number[] = []
    for (const place of places) {
      if (this.#seen.has(place)) continue
      this.#seen.add(place)
      if (this.#bounds.get(place).hex !== '') added.push(place)
    }
    if (added.length === 0) return
    // The open start is the least of all.
    this.#set([...this.#places, ...added].sort((a, b) => (this.#bounds.get(a).hex < this.#bounds.get(b).hex ? -1 : 1)))
    if (this.count > rowsMax) this.#compact(loadOf())
  }

  rowOfHex(hex: string): number {
    return lowerBound(this.count, (row) => this.hexAt(row) <= hex) - 1
  }

  rowOfStart(place: number): number {
    const known = this.#rows.get(place)
    if (known !== undefined) return known
    const row = this.rowOfHex(this.#bounds.get(place).hex)
    this.#rows.set(place, row)
    return row
  }

  /** The row behind the last one of a range that ends at a bound. */
  rowOfEnd(place: number): number {
    const { hex } = this.#bounds.get(place)
    if (hex === '') return this.count
    const row = this.rowOfStart(place)
    return this.#starts[row] === hex ? row : row + 1
  }

  #set(places: number[]): void {
    this.#places = places
    this.#starts = places.map((place) => this.#bounds.get(place).hex)
    this.#rows = new Map()
    this.version++
  }

  /** Neighbours become one until they have their share of the load together. */
  #compact(loads: ArrayLike<number>): void {
    let total = 0
    for (let row = 0; row < this.count; row++) total += loads[row] ?? 0
    const share = total / rowsKept
    const kept = [this.placeAt(0)]
    let sum = 0
    for (let row = 0; row + 1 < this.count; row++) {
      sum += loads[row] ?? 0
      const isHotNext = (loads[row + 1] ?? 0) >= share
      if (sum < share && !(isHotNext && sum > 0)) continue
      if (kept.length >= rowsMax - 1) break
      kept.push(this.placeAt(row + 1))
      sum = 0
    }
    this.#set(kept)
  }
}

const levelNames = ['database', 'namespace', 'kind'] as const

export interface Bracket {
  /** Empty where it is not known. */
  readonly label: string
  readonly fromRow: number
  readonly toRow: number
}

/** The brackets of each level. @param levelsAt - of the bound at which a row begins; those of the open end, which has none, behind the last */
export function bracketsOf(
  rows: number,
  levelsAt: (row: number) => readonly string[],
): readonly (readonly Bracket[])[] {
  const all: { label: string; fromRow: number; toRow: number }[][] = levelNames.map(() => [])
  const paths: string[] = []
  for (let row = 0; row < rows; row++) {
    // The row before the first bound is taken for one of what follows it.
    const levels = levelsAt(row).length === 0 ? levelsAt(row + 1) : levelsAt(row)
    const known = levels.length < 4 ? [] : levels
    for (const [level] of levelNames.entries()) {
      const path = JSON.stringify(known.slice(0, level + 1))
      const brackets = all[level] as { label: string; fromRow: number; toRow: number }[]
      const current = brackets.at(-1)
      if (current !== undefined && paths[level] === path) current.toRow = row + 1
      else brackets.push({ label: labelOf(known, level), fromRow: row, toRow: row + 1 })
      paths[level] = path
    }
  }
  return all
}

function labelOf(levels: readonly string[], level: number): string {
  if (levels.length === 0) return ''
  return level === 1 && levels[1] === '' ? 'default namespace' : (levels[level] ?? '')
}
