/**
 * How many rows and bytes each tablet has, and how many tombstones.
 *
 * RC1  Nothing is counted before the first report: then the store is walked once, in slices, and from then on
 *      every row that comes or goes is noted. Without reports, traffic pays one test of a flag.
 * RC2  Counts never show less than nothing, though estimates (tablet.ts) may fall below.
 */
import type { Scheduler } from '../../clock.ts'
import { requestContext } from '../../context.ts'
import { finallyDo, type MaybePromise, runSteps, type Steps, waitFor, whenFails } from '../../maybe-promise.ts'
import type { Random } from '../../random.ts'
import { giveWay } from '../../slices.ts'
import type { KvRow, KvScan, RowKey } from '../../storage/kv.ts'
import { spaceOf } from '../../tables/rows.ts'
import type { TableId } from '../../tables/table.ts'
import type { TabletFleet } from './fleet.ts'

/** Rows of the store that a walk takes in one step. */
const rowsPerStep = 128

/** Rows in any order. */
export type RowWalk = Pick<KvScan, 'next' | 'close'>

export interface RowCountsParts {
  readonly fleet: TabletFleet
  readonly random: Random
  readonly scheduler: Scheduler
}

export class RowCounts {
  /** Whether rows that come and go must be told (RC1). */
  isWanted = false
  readonly #parts: RowCountsParts
  #open: (() => RowWalk) | undefined
  #walk = 0
  /** Resolves when the latest walk has ended; one that another took the place of ends at its next step. */
  #walked: Promise<void> = Promise.resolve()

  constructor(parts: RowCountsParts) {
    this.#parts = parts
  }

  /** @param open - a scan over everything that sees the moment of the call */
  set source(open: () => RowWalk) {
    this.#open = open
  }

  /** Whether there is a store to count. */
  get areCounted(): boolean {
    return this.#open !== undefined
  }

  /** Starts counting, for a report. */
  want(): void {
    if (this.isWanted) return
    this.isWanted = true
    const open = this.#open
    if (open === undefined) return
    const scan = open()
    const walk = (): MaybePromise<void> => runSteps(this.#steps(scan, ++this.#walk))
    // Rows that the store cannot read are not counted.
    const ended = whenFails(
      () => finallyDo(walk, () => scan.close()),
      () => undefined,
    )
    this.#walked = Promise.resolve(ended)
  }

  /** As {@link want}; resolves when all rows are counted. */
  async counted(): Promise<void> {
    this.want()
    for (let walked: Promise<void> | undefined; walked !== this.#walked; ) {
      walked = this.#walked
      await walked
    }
  }

  /** The store was replaced; it is counted again, if there was a report before. */
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

  /** Goes on until the end, or until another walk has begun. */
  *#steps(scan: RowWalk, walk: number): Steps<void> {
    const context = requestContext({ clock: this.#parts.scheduler })
    for (;;) {
      const rows = yield* waitFor(scan.next(rowsPerStep))
      if (!this.#take(rows, walk)) return
      yield* waitFor(giveWay(context, rows.length))
    }
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
  const space = spaceOf(rowKey)
  return space === 'Pending' ? undefined : space
}
