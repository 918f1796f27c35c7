/**
 * How many rows and bytes each tablet has, and how many tombstones.
 *
 * RC1  Nothing is counted before somebody wants to know: then the store is walked once, in turns, and from that moment on
 *      every row that comes or goes is noted. Traffic that nobody looks at pays one test of a flag.
 * RC2  Counts never show less than nothing, though estimates (tablet.ts) may fall below.
 */
import type { Scheduler } from '../clock.ts'
import { keySpaceOf } from '../encoding/keyspace.ts'
import type { Random } from '../random.ts'
import type { KvRow, KvScan, RowKey } from '../storage/kv.ts'
import type { TableId } from '../tables/table.ts'
import type { TabletFleet } from './fleet.ts'

/** Rows that a walk takes in one turn. */
const rowsPerTurn = 2_000
/** Turns that are taken at once when the store answers at once. */
const turnsAtOnce = 10

export interface RowCountsParts {
  readonly fleet: TabletFleet
  readonly random: Random
  readonly scheduler: Scheduler
}

export class RowCounts {
  /** Whether rows that come and go must be told (RC1). */
  isWanted = false
  readonly #parts: RowCountsParts
  #open: (() => KvScan) | undefined
  #walk = 0

  constructor(parts: RowCountsParts) {
    this.#parts = parts
  }

  /** @param open - a scan over everything that sees the moment of the call */
  set source(open: () => KvScan) {
    this.#open = open
  }

  /** Somebody wants to know. */
  want(): void {
    if (this.isWanted) return
    this.isWanted = true
    const open = this.#open
    if (open === undefined) return
    const scan = open()
    const walk = ++this.#walk
    this.#turns(scan, walk)
  }

  /** The store became another one; if somebody wanted to know, it is counted anew. */
  recount(): void {
    this.#walk++
    const wasWanted = this.isWanted
    this.isWanted = false
    for (const tablet of this.#parts.fleet.map.all()) {
      tablet.rows = 0
      tablet.bytes = 0
    }
    if (wasWanted) this.want()
  }

  /**
   * A row came (`rows` 1), went (-1) or changed its size (0).
   *
   * @param weight - how many such rows there are
   */
  note(rowKey: RowKey, rows: number, bytes: number, weight: number): void {
    const { fleet, random, scheduler } = this.#parts
    const table = tableOf(rowKey)
    if (table === undefined) return
    const scaled = weight * fleet.settings.scale
    const tablet = fleet.tabletOf(table, rowKey)
    tablet.rows += rows * scaled
    tablet.bytes += bytes * scaled
    if (rows > 0) {
      tablet.noteRow(rowKey, random)
      tablet.tombstones.drop(rowKey)
    } else if (rows < 0) {
      tablet.tombstones.add(rowKey, scaled, Number(scheduler.nowMicros()) / 1000)
    }
  }

  #turns(scan: KvScan, walk: number): void {
    for (let turn = 0; turn < turnsAtOnce; turn++) {
      const rows = scan.next(rowsPerTurn)
      if (rows instanceof Promise) {
        rows.then(
          (found) => {
            if (this.#take(found, walk)) this.#parts.scheduler.defer(() => this.#turns(scan, walk))
            else scan.close()
          },
          () => scan.close(),
        )
        return
      }
      if (!this.#take(rows, walk)) {
        scan.close()
        return
      }
    }
    this.#parts.scheduler.defer(() => this.#turns(scan, walk))
  }

  /** @returns whether there is more to come */
  #take(rows: readonly KvRow[], walk: number): boolean {
    if (walk !== this.#walk || rows.length === 0) return false
    const { fleet, random } = this.#parts
    const { scale } = fleet.settings
    for (const { key, value } of rows) {
      const table = tableOf(key)
      if (table === undefined) continue
      const tablet = fleet.tabletOf(table, key)
      tablet.rows += scale
      tablet.bytes += bytesOf(table, key, value.length) * scale
      tablet.noteRow(key, random)
    }
    return true
  }
}

/** The size of a row. An index row has all its data in its key; the type bytes beside it are not counted. */
export function bytesOf(table: TableId, rowKey: RowKey, valueBytes: number): number {
  return table === 'Entities' || table === 'Log' ? rowKey.length + valueBytes : rowKey.length
}

/** Markers of pending records are not counted: they are gone as soon as all is applied. */
function tableOf(rowKey: RowKey): TableId | undefined {
  const space = keySpaceOf(rowKey)
  return space === 'Pending' ? undefined : space
}
