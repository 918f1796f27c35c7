/**
 * The tables as they were at a past moment: the store at a later one, with the newer records undone.
 *
 *   scan of a table      a   b       d   e        the store now (or a snapshot)
 *   undone rows              b'  c       e×       what newer records had changed, as it was before them
 *   the past             a   b'  c   d
 *
 * H1  A view at T gives what a read at T gave: every record with commitVersion <= T counts, none after it.
 * H2  A moment is readable while all records after it are kept; older ones are refused, never guessed.
 *
 * Operators above do not know that they read the past. An entity costs the newer records of its entity group, and nothing if its
 * version says that it was not changed since. A scan costs the newer records of its kind, or of the group that is read; and the
 * reads of a moment share that (undone-rows.ts).
 *
 * Ours: records hold images before, so history needs no rows of its own.
 */

import type { RequestContext } from '../context.ts'
import { failedPrecondition, invalidArgument } from '../errors.ts'
import type { PendingRecord } from '../log/pending.ts'
import { andThen, isPromise, type MaybePromise } from '../maybe-promise.ts'
import { AwaitedScan } from '../storage/awaited-scan.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'
import { StoredImage } from '../tables/entities.ts'
import { codesOfEntityRow, RowProducer } from '../tables/entity-rows.ts'
import { type GroupCode, groupOf } from '../tables/log-rows.ts'
import { rowAfter } from '../tables/ranges.ts'
import type { RowScan, TableId, TableView } from '../tables/table.ts'
import { partOf } from '../tables/table-part.ts'
import { Overlay, type ScanDirection } from './overlay.ts'
import type { Moment, UndoneRows } from './undone-rows.ts'

/**
 * The rows to lay over a store to see it as if these records were applied: the other way round.
 *
 * @param records - those of a group in their order
 */
export function aheadRows(records: readonly Pick<PendingRecord, 'milestone' | 'changes'>[]): Overlay {
  const rows = new Overlay()
  const producer = new RowProducer(rows)
  for (const { milestone, changes } of records) {
    for (const change of changes) {
      if (milestone === 'committed') producer.entity(change)
      producer.indexRows(change)
    }
  }
  return rows
}

/** Refuses a moment that has not come. Times are microseconds. */
export function refuseFuture(readTime: bigint, now: bigint): void {
  if (readTime <= now) return
  throw invalidArgument(`The requested 'read_time' cannot be in the future. It is now ${instant(now)}`)
}

/** Refuses a moment of which records are gone (H2). Times are microseconds. */
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
  /** The tables of the moment's store. */
  readonly now: TableView
  readonly moment: Moment
  readonly undone: UndoneRows
  /** The only entity group whose rows matter; absent = all. */
  readonly group?: GroupCode | undefined
}

export class PastView implements TableView {
  readonly #parts: PastViewParts

  constructor(parts: PastViewParts) {
    this.#parts = parts
  }

  /** For a read that passes over the rows of all other groups. */
  ofGroup(group: GroupCode): PastView {
    return new PastView({ ...this.#parts, group })
  }

  get(context: RequestContext, table: TableId, row: RowKey): MaybePromise<Uint8Array | undefined> {
    const { now, moment, group } = this.#parts
    return andThen(now.get(context, table, row), (cell) => {
      const isEntity = table === 'Entities'
      if (isEntity && cell !== undefined && new StoredImage(cell).version <= moment.at) return cell
      const range = { start: row, end: rowAfter(row) }
      const undone = this.#undone(context, table, range, isEntity ? groupOfRow(row) : group)
      return andThen(undone, (rows) => (rows === undefined ? cell : rows.get(row, () => cell)))
    })
  }

  scan(context: RequestContext, table: TableId, range: KeyRange, options: ScanDirection = {}): RowScan {
    const { now, group } = this.#parts
    const open = (undone: Overlay | undefined): RowScan => {
      const scan = now.scan(context, table, range, options)
      return undone === undefined ? scan : undone.scan(context, scan, range, options)
    }
    const undone = this.#undone(context, table, range, group)
    return isPromise(undone) ? new AwaitedScan(undone.then(open)) : open(undone)
  }

  #undone(
    context: RequestContext,
    table: TableId,
    range: KeyRange,
    group: GroupCode | undefined,
  ): MaybePromise<Overlay | undefined> {
    const { undone, moment } = this.#parts
    const part = partOf(table, range)
    return part && undone.of(context, moment, { part, group })
  }
}

function groupOfRow(row: RowKey): GroupCode {
  const { partition, path } = codesOfEntityRow(row)
  return groupOf(partition, path)
}
