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
import type { HeatBound } from '@sixtables/engine'
import { lowerBound } from './lower-bound.ts'

export const rowsMax = 1_250
const rowsKept = 1_000

const open: HeatBound = { hex: '', words: '', levels: [] }

/** By the places of some bounds: the row of a range that begins there, and the row behind a range that ends there. */
interface Rows {
  readonly version: number
  readonly starts: Int32Array
  readonly ends: Int32Array
}

export class HeatAxis {
  /** Bytes of all bounds that came. */
  readonly #seen = new Set([''])
  #starts: readonly HeatBound[] = [open]
  readonly #rows = new WeakMap<readonly HeatBound[], Rows>()
  version = 0

  get count(): number {
    return this.#starts.length
  }

  /** The bound at which a row begins; the open end behind the last row. */
  boundAt(row: number): HeatBound {
    return this.#starts[row] ?? open
  }

  hexAt(row: number): string {
    return this.boundAt(row).hex
  }

  /** Takes in bounds. @param loadOf - the load of each row, for when there are too many */
  add(bounds: Iterable<HeatBound>, loadOf: () => ArrayLike<number>): void {
    const added: HeatBound[] = []
    for (const bound of bounds) {
      if (this.#seen.has(bound.hex)) continue
      this.#seen.add(bound.hex)
      added.push(bound)
    }
    if (added.length === 0) return
    this.#set([...this.#starts, ...added].sort((a, b) => (a.hex < b.hex ? -1 : 1)))
    if (this.count > rowsMax) this.#compact(loadOf())
  }

  rowOfHex(hex: string): number {
    return lowerBound(this.count, (row) => this.hexAt(row) <= hex) - 1
  }

  /** @param bounds - a list that grows at its end alone */
  rowsOf(bounds: readonly HeatBound[]): Rows {
    const known = this.#rows.get(bounds)
    if (known?.version === this.version && known.starts.length === bounds.length) return known
    const starts = Int32Array.from(bounds, ({ hex }) => this.rowOfHex(hex))
    const ends = Int32Array.from(bounds, ({ hex }, i) => {
      const row = starts[i] as number
      return hex === '' ? this.count : row + (this.hexAt(row) === hex ? 0 : 1)
    })
    const rows = { version: this.version, starts, ends }
    this.#rows.set(bounds, rows)
    return rows
  }

  #set(starts: readonly HeatBound[]): void {
    this.#starts = starts
    this.version++
  }

  /** Neighbours become one until they have their share of the load together. */
  #compact(loads: ArrayLike<number>): void {
    let total = 0
    for (let row = 0; row < this.count; row++) total += loads[row] ?? 0
    const share = total / rowsKept
    const kept = [this.boundAt(0)]
    let sum = 0
    for (let row = 0; row + 1 < this.count; row++) {
      sum += loads[row] ?? 0
      const isHotNext = (loads[row + 1] ?? 0) >= share
      if (sum < share && !(isHotNext && sum > 0)) continue
      if (kept.length >= rowsMax - 1) break
      kept.push(this.boundAt(row + 1))
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
