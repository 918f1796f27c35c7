/**
 * The tablets of every table, as a sorted list of split points: a binary search finds the tablet of a row key.
 *
 *   Entities   ''  ──── ToDo:500 ──── ToDo:900 ────  ∞        three tablets, two split points
 *
 * The left half of a split keeps its id, the right half gets a new one; an id is never used again.
 *
 * T1  The tablets of a table partition its rows: the first begins at the open start, each ends where the next begins, the
 *     last has an open end. A split point is a whole row key inside of its tablet.     test/property/tablets.test.ts
 */

import { invariant } from '../../invariant.ts'
import { lowerBound } from '../../lower-bound.ts'
import type { RowKey } from '../../storage/kv.ts'
import type { TableId } from '../../tables/table.ts'
import { Tablet } from './tablet.ts'

export class TabletMap {
  readonly #tables = new Map<TableId, Tablet[]>()
  #lastId = 0

  tables(): readonly TableId[] {
    return [...this.#tables.keys()].sort()
  }

  tabletsOf(table: TableId): readonly Tablet[] {
    return this.#tables.get(table) ?? []
  }

  all(): readonly Tablet[] {
    return this.tables().flatMap((table) => this.tabletsOf(table))
  }

  /** The tablet of a row; `undefined` if the table was not used before. */
  tabletOf(table: TableId, rowKey: RowKey): Tablet | undefined {
    const tablets = this.#tables.get(table)
    return tablets?.[this.#placeOf(tablets, rowKey)]
  }

  add(table: TableId, server: number, nowMs: number): Tablet {
    const tablet = new Tablet(table, ++this.#lastId, '', undefined, server, nowMs)
    this.#tables.set(table, [tablet])
    return tablet
  }

  /** The tablets of a range, its end included, from left to right. */
  tabletsBetween(table: TableId, from: RowKey, through: RowKey): readonly Tablet[] {
    const tablets = this.#tables.get(table)
    if (tablets === undefined) return []
    const first = this.#placeOf(tablets, from)
    const only = tablets[first] as Tablet
    if (only.end === undefined || through < only.end) return [only]
    return tablets.slice(first, this.#placeOf(tablets, through) + 1)
  }

  /** Splits the tablet of a row before it. `undefined` if the tablet begins there. */
  split(table: TableId, at: RowKey, nowMs: number): { readonly left: Tablet; readonly right: Tablet } | undefined {
    const tablets = this.#tables.get(table)
    if (tablets === undefined) return undefined
    const place = this.#placeOf(tablets, at)
    const left = tablets[place] as Tablet
    if (at <= left.start) return undefined
    const right = new Tablet(table, ++this.#lastId, at, left.end, left.server, nowMs)
    left.cut(right, at, nowMs)
    tablets.splice(place + 1, 0, right)
    return { left, right }
  }

  merge(left: Tablet, right: Tablet): void {
    left.absorb(right)
    const tablets = this.#tables.get(left.table) ?? []
    tablets.splice(tablets.indexOf(right), 1)
  }

  clear(): void {
    this.#tables.clear()
  }

  /** Checks T1, for tests. */
  check(): void {
    for (const [table, tablets] of this.#tables) {
      let end: RowKey | undefined = ''
      for (const tablet of tablets) {
        invariant(end !== undefined && tablet.start === end, `T1: the tablets of ${table} leave a gap or overlap`)
        invariant(tablet.end === undefined || tablet.end > tablet.start, `T1: a tablet of ${table} is empty`)
        end = tablet.end
      }
      invariant(end === undefined, `T1: the last tablet of ${table} is open to the end`)
    }
  }

  #placeOf(tablets: readonly Tablet[], rowKey: RowKey): number {
    return lowerBound(tablets.length, (place) => (tablets[place] as Tablet).start <= rowKey, 1) - 1
  }
}
