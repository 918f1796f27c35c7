/**
 * The tables at a past moment: the store now, with the newer records undone.
 *
 *   scan of a table      a   b       d   e        the store now (or a snapshot)
 *   undone rows              b'  c       e×       rows that newer records changed, as they were before
 *   the past             a   b'  c   d
 *
 * H1  A view at T gives what a read at T gave: every record with commitVersion <= T counts, none after it.
 *
 * A moment is readable while all records after it are kept; older ones are refused. An entity costs the newer records of its group, or
 * nothing if its version shows that it did not change since; a scan those of its kind or group (undone-rows.ts).
 */

import type { RequestContext } from '../context.ts'
import { failedPrecondition, invalidArgument } from '../errors.ts'
import { andThen, isPromise, type MaybePromise } from '../maybe-promise.ts'
import { runInSlices } from '../slices.ts'
import { awaitedScan } from '../storage/awaited-scan.ts'
import type { KeyRange } from '../storage/kv.ts'
import { StoredImage } from '../tables/entities.ts'
import { type EntityRows, groupOfEntityRow, RowProducer } from '../tables/entity-rows.ts'
import type { GroupCode } from '../tables/log-rows.ts'
import { rangeOfRow } from '../tables/rows.ts'
import type { RowScan, TableId, TableView } from '../tables/table.ts'
import { partOf } from '../tables/table-part.ts'
import { deletedBefore, isInAny } from './deleted-ranges.ts'
import { Overlay } from './overlay.ts'
import type { Moment, UndoneRows } from './undone-rows.ts'

/** The rows to lay over a store to see it as if these changes, those of a group in order, were applied; made in slices. */
export function aheadRows(context: RequestContext, changes: readonly EntityRows[]): MaybePromise<Overlay> {
  const rows = new Overlay()
  return andThen(runInSlices(context, rowSteps(changes, rows)), () => rows)
}

function* rowSteps(changes: readonly EntityRows[], rows: Overlay): Generator<number, void> {
  const producer = new RowProducer(rows)
  for (const change of changes) {
    // The store may have this row already, with the same value.
    producer.entity(change)
    for (let from = 0; from < change.places; from += placesOfStep) {
      producer.indexRows(change, from, from + placesOfStep)
      yield 2 * Math.min(placesOfStep, change.places - from)
    }
  }
}

/** Places of an entity whose rows are made in one step. */
const placesOfStep = 128

/** Refuses a moment in the future. Times are microseconds. */
export function refuseFuture(readTime: bigint, now: bigint): void {
  if (readTime <= now) return
  throw invalidArgument(`The requested 'read_time' cannot be in the future. It is now ${instant(now)}`)
}

/** Refuses a moment after which not all records are kept. Times are microseconds. */
export function refuseForgotten(readTime: bigint, oldestReadable: bigint): void {
  if (readTime >= oldestReadable) return
  throw failedPrecondition(
    `The requested 'read_time' is too old. The oldest readable moment is ${instant(oldestReadable)}`,
  )
}

function instant(micros: bigint): string {
  return new Date(Number(micros / 1000n)).toISOString()
}

export interface PastViewParts {
  readonly now: TableView
  readonly moment: Moment
  readonly undone: UndoneRows
  /** Ranges that a reset has deleted since the moment: reads of them are refused. */
  readonly deleted: readonly KeyRange[]
  /** If given, only rows of this entity group are needed. */
  readonly group?: GroupCode | undefined
}

export function pastView({ now, moment, undone, deleted, group }: PastViewParts): TableView {
  const undoneIn = (
    context: RequestContext,
    table: TableId,
    range: KeyRange,
    within: GroupCode | undefined,
  ): MaybePromise<Overlay | undefined> => {
    const part = partOf(table, range)
    return part && undone.of(context, moment, { part, group: within })
  }
  return {
    get(context, table, row) {
      if (isInAny(deleted, row)) throw deletedBefore()
      return andThen(now.get(context, table, row), (cell) => {
        const isEntity = table === 'Entities'
        if (isEntity && cell !== undefined && new StoredImage(cell).version <= moment.at) return cell
        const found = undoneIn(context, table, rangeOfRow(row), isEntity ? groupOfEntityRow(row) : group)
        return andThen(found, (rows) => (rows === undefined ? cell : rows.get(row, () => cell)))
      })
    },
    scan(context, table, range, options = {}) {
      if (deleted.some(({ start, end }) => start < range.end && range.start < end)) throw deletedBefore()
      const open = (rows: Overlay | undefined): RowScan => {
        const scan = now.scan(context, table, range, options)
        return rows === undefined ? scan : rows.scan(context, scan, range, options)
      }
      const found = undoneIn(context, table, range, group)
      return isPromise(found) ? awaitedScan(found.then(open)) : open(found)
    },
  }
}
