/**
 * How many rows and bytes each tablet has, and how many tombstones.
 *
 * RC1  Nothing is counted before somebody wants to know: then the store is walked once, in slices, and from that moment on
 *      every row that comes or goes is noted. Traffic that nobody looks at pays one test of a flag.
 * RC2  Counts never show less than nothing, though estimates (tablet.ts) may fall below.
 */
import type { Scheduler } from '../clock.ts'
import { requestContext } from '../context.ts'
import { keySpaceOf } from '../encoding/keyspace.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { Random } from '../random.ts'
import { giveWay } from '../slices.ts'
import type { KvRow, KvScan, RowKey } from '../storage/kv.ts'
import type { TableId } from '../tables/table.ts'
import type { TabletFleet } from './fleet.ts'

/** Rows of the store that a walk takes in one step. */
const rowsPerStep = 128

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
  /** Resolves when the latest walk has ended; one that another took the place of ends at its next step. */
  #walked: Promise<void> = Promise.resolve()

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
    const done = this.#run(scan, ++this.#walk)
    const close = (): void => scan.close()
    if (done instanceof Promise) this.#walked = done.then(close, close)
    else close()
  }

  /** As {@link want}; resolves when all rows are counted. */
  async counted(): Promise<void> {
    this.want()
    for (let walked: Promise<void> | undefined; walked !== this.#walked; ) {
      walked = this.#walked
      await walked
    }
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

  /** Goes on until the end, or until another walk has begun; what the store cannot answer is not counted. */
  #run(scan: KvScan, walk: number): MaybePromise<void> {
    const context = requestContext({ clock: this.#parts.scheduler })
    const step = (): MaybePromise<void> => {
      for (;;) {
        const rows = scan.next(rowsPerStep)
        if (rows instanceof Promise) return rows.then((late) => (this.#take(late, walk) ? way(late.length) : undefined))
        if (!this.#take(rows, walk)) return
        const wait = giveWay(context, rows.length)
        if (wait !== undefined) return wait.then(step)
      }
    }
    const way = (rows: number): MaybePromise<void> => andThen(giveWay(context, rows), step)
    return step()
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
