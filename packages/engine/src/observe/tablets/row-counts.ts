/**
 * The number of rows, bytes and tombstones of each tablet.
 *
 * Nothing is counted before the first report; until then, traffic pays one test of a flag. The first report starts one walk
 * through the store, in slices, and from then on every row that is added or deleted is noted. Counts are estimates (tablet.ts),
 * but never negative.
 */
import { requestContext } from '../../context.ts'
import { finallyDo, type MaybePromise, runSteps, type Steps, waitFor, whenFails } from '../../maybe-promise.ts'
import { giveWay } from '../../slices.ts'
import type { KvRow, KvScan, RowKey } from '../../storage/kv.ts'
import { spaceOf } from '../../tables/rows.ts'
import type { TableId } from '../../tables/table.ts'
import type { MeteringParts } from './metering.ts'

const rowsPerStep = 128

export type RowWalk = Pick<KvScan, 'next' | 'close'>

type RowCountsParts = Pick<MeteringParts, 'fleet' | 'random' | 'scheduler'>

export class RowCounts {
  /** Whether added and deleted rows must be noted. */
  isWanted = false
  readonly #parts: RowCountsParts
  /** Opens a scan over all rows as of the call; `undefined` = rows are not counted. */
  source: (() => RowWalk) | undefined
  /** Number of the latest walk. Rows that are in its snapshot are not noted again. */
  walk = 0
  /** Resolves when the latest walk has ended; a walk that was replaced ends at its next step. */
  #walked: Promise<void> = Promise.resolve()

  constructor(parts: RowCountsParts) {
    this.#parts = parts
  }

  want(): void {
    if (this.isWanted) return
    this.isWanted = true
    const scan = this.source?.()
    if (scan === undefined) return
    const walk = (): MaybePromise<void> => runSteps(this.#steps(scan, ++this.walk))
    // Unreadable rows are not counted.
    const ended = whenFails(
      () => finallyDo(walk, () => scan.close()),
      () => undefined,
    )
    this.#walked = Promise.resolve(ended)
  }

  /** {@link want}; resolves when all rows are counted. */
  async counted(): Promise<void> {
    this.want()
    for (let walked: Promise<void> | undefined; walked !== this.#walked; ) {
      walked = this.#walked
      await walked
    }
  }

  /** After the store was replaced: counts again, if there was a report before. */
  recount(): void {
    this.walk++
    const wasWanted = this.isWanted
    this.isWanted = false
    for (const tablet of this.#parts.fleet.map.all()) {
      tablet.rows = 0
      tablet.bytes = 0
    }
    if (wasWanted) this.want()
  }

  /** Notes `weight` rows that were added (`rows` 1), deleted (-1) or resized (0). @param walk - the latest one when they were written */
  note(walk: number, rowKey: RowKey, rows: number, bytes: number, weight: number): void {
    const { fleet, random, scheduler } = this.#parts
    const table = tableOf(rowKey)
    if (table === undefined || walk !== this.walk) return
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

  *#steps(scan: RowWalk, walk: number): Steps<void> {
    const context = requestContext({ clock: this.#parts.scheduler })
    for (;;) {
      const rows = yield* waitFor(scan.next(rowsPerStep))
      if (!this.#take(rows, walk)) return
      yield* waitFor(giveWay(context, rows.length))
    }
  }

  #take(rows: readonly KvRow[], walk: number): boolean {
    if (walk !== this.walk || rows.length === 0) return false
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

/** The size of a row. The key of an index row contains all its data; its type bytes are not counted. */
export function bytesOf(table: TableId, rowKey: RowKey, valueBytes: number): number {
  return table === 'Entities' || table === 'Log' ? rowKey.length + valueBytes : rowKey.length
}

/** Markers of pending records are not counted; they exist only until all is applied. */
function tableOf(rowKey: RowKey): TableId | undefined {
  const space = spaceOf(rowKey)
  return space === 'Pending' ? undefined : space
}
