/**
 * Areas: places in LevelDB, told apart by a prefix, so that a reset of a million rows is one write. LevelDB deletes row by row, which
 * takes as long as writing them. Instead the range moves to a new, empty area by a write of the area table, which is one row. No
 * reader looks into the old area any more; the cleaner deletes its rows later (leftover-rows.ts).
 *
 *   area 0       a row under its own key                  E p ToDo:1
 *   area n > 0   behind FF FF FF FF FF FF, n (4 bytes)    FF FF FF FF FF FF  00 00 00 01  E p ToDo:1
 *   area table   one row, in JSON                         FF FF FF FF FF FF  00 00 00 00
 *
 * After a reset of project p its ranges are in area 1. A scan of all entities then reads [E … E p) and [E q …) in area 0, and [E p … E q)
 * in area 1. Later the cleaner moves the rows of area 1 back to area 0, some at a time, and the table is empty again. A row is in one area
 * at a time, and no leftover range overlaps a place in use (areas.test.ts).
 */
import { lowerBound } from '../lower-bound.ts'
import type { KeyRange, KvRow, RowKey } from './kv.ts'

/** All row keys are smaller. */
const reserved: RowKey = '\xff'.repeat(6)

export const areaTableKey: RowKey = prefixOf(0)

/** A range of row keys, and the prefix of its rows in LevelDB. */
export interface PlacedRange extends KeyRange {
  readonly prefix: string
}

/** JSON of the table: `[start, end, prefix]`, and `[start, end]` of LevelDB's keys. */
interface StoredTable {
  readonly next: number
  readonly moved: readonly (readonly [RowKey, RowKey, string])[]
  readonly leftover: readonly (readonly [RowKey, RowKey])[]
}

export class Areas {
  /** Ranges outside of area 0: disjoint, ascending. */
  readonly #moved: readonly PlacedRange[]
  /** Ranges of LevelDB's keys whose rows no reader finds. */
  readonly leftover: readonly KeyRange[]
  readonly #next: number

  constructor(moved: readonly PlacedRange[] = [], leftover: readonly KeyRange[] = [], next = 1) {
    this.#moved = moved
    this.leftover = leftover
    this.#next = next
  }

  static from(bytes: Uint8Array): Areas {
    const { moved, leftover, next } = JSON.parse(new TextDecoder().decode(bytes)) as StoredTable
    return new Areas(
      moved.map(([start, end, prefix]) => ({ start, end, prefix })),
      leftover.map(([start, end]) => ({ start, end })),
      next,
    )
  }

  get row(): KvRow {
    const table: StoredTable = {
      next: this.#next,
      moved: this.#moved.map(({ start, end, prefix }) => [start, end, prefix]),
      leftover: this.leftover.map(({ start, end }) => [start, end]),
    }
    return { key: areaTableKey, value: new TextEncoder().encode(JSON.stringify(table)) }
  }

  place(key: RowKey): string {
    const moved = this.#moved
    if (moved.length === 0) return key
    const range = moved[this.#firstEndingAfter(key)]
    return range === undefined || key < range.start ? key : range.prefix + key
  }

  /** The parts of a range, ascending, each in one area. */
  parts(range: KeyRange): readonly PlacedRange[] {
    if (this.#moved.length === 0 && range.start < range.end && range.end <= reserved)
      return [{ start: range.start, end: range.end, prefix: '' }]
    const parts: PlacedRange[] = []
    const last = earlier(range.end, reserved)
    let from = range.start
    for (let i = this.#firstEndingAfter(from); from < last; i++) {
      const moved = this.#moved[i]
      if (moved === undefined || moved.start >= last) {
        parts.push({ start: from, end: last, prefix: '' })
        break
      }
      if (from < moved.start) parts.push({ start: from, end: moved.start, prefix: '' })
      const end = earlier(moved.end, last)
      parts.push({ start: later(from, moved.start), end, prefix: moved.prefix })
      from = end
    }
    return parts
  }

  stored(ranges: readonly KeyRange[]): readonly KeyRange[] {
    return ranges.flatMap((range) => this.parts(range).map(storedRange))
  }

  /** Moves ranges to a new, empty area; their rows in the old ones are left over. */
  moved(ranges: readonly KeyRange[]): Areas {
    const prefix = prefixOf(this.#next)
    let areas: Areas = this
    for (const range of ranges) {
      const left = areas.parts(range).filter((part) => part.prefix !== prefix)
      if (left.length === 0) continue
      const others = areas.#moved.flatMap((one) => outside(one, range))
      const all = [...others, { ...range, prefix }].sort((a, b) => (a.start < b.start ? -1 : 1))
      areas = new Areas(all, [...areas.leftover, ...left.map(storedRange)], this.#next + 1)
    }
    return areas
  }

  /** A range outside of area 0 that may move back, since no leftover rows are in its way. */
  get stray(): PlacedRange | undefined {
    return this.#moved.find(({ start, end }) => this.leftover.every((left) => left.end <= start || end <= left.start))
  }

  /** Records that a part of {@link stray} was moved back to area 0. */
  broughtHome(home: KeyRange): Areas {
    return new Areas(
      this.#moved.flatMap((one) => outside(one, home)),
      this.leftover,
      this.#next,
    )
  }

  cleaned(range: KeyRange): Areas {
    const leftover = this.leftover.filter(({ start, end }) => start !== range.start || end !== range.end)
    return new Areas(this.#moved, leftover, this.#next)
  }

  #firstEndingAfter(key: RowKey): number {
    return lowerBound(this.#moved.length, (i) => (this.#moved[i] as PlacedRange).end <= key)
  }
}

function prefixOf(area: number): string {
  return reserved + String.fromCharCode(area >>> 24, (area >>> 16) & 0xff, (area >>> 8) & 0xff, area & 0xff)
}

export function storedRange({ start, end, prefix }: PlacedRange): KeyRange {
  return { start: prefix + start, end: prefix + end }
}

/** The parts of a placed range that are not in `range`. */
function outside(one: PlacedRange, range: KeyRange): readonly PlacedRange[] {
  const before = { ...one, end: earlier(one.end, range.start) }
  const after = { ...one, start: later(one.start, range.end) }
  return [before, after].filter(({ start, end }) => start < end)
}

export function earlier(one: RowKey, other: RowKey): RowKey {
  if (one < other) return one
  return other
}

export function later(one: RowKey, other: RowKey): RowKey {
  if (one > other) return one
  return other
}
