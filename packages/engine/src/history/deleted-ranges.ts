/**
 * Ranges of rows that a reset deleted together with their log. Their past can no longer be read: after a reset of namespace n
 * at time T, a read of n at T - 1 is refused, while other namespaces can still be read.
 */
import type { RequestContext } from '../context.ts'
import { contention, type DatastoreError, failedPrecondition } from '../errors.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'
import type { RowScan, ScanDirection, TableId, TableView } from '../tables/table.ts'

/** A view of a past moment that refuses reads of ranges deleted since (log/retention.ts). */
export function guarded(view: TableView, ranges: readonly KeyRange[]): TableView {
  return ranges.length === 0 ? view : new GuardedView(view, ranges)
}

/** The error of a transaction whose rows were deleted after it began. */
export function deletedSince(): DatastoreError {
  return contention('what this transaction reads was deleted by a reset; try again', 'transaction')
}

function deletedBefore(): DatastoreError {
  return failedPrecondition("The requested 'read_time' is too old. (the data of that time was deleted by a reset)")
}

export function isInAny(ranges: readonly KeyRange[], row: RowKey): boolean {
  return ranges.some(({ start, end }) => start <= row && row < end)
}

class GuardedView implements TableView {
  readonly #view: TableView
  readonly #ranges: readonly KeyRange[]

  constructor(view: TableView, ranges: readonly KeyRange[]) {
    this.#view = view
    this.#ranges = ranges
  }

  get(context: RequestContext, table: TableId, row: RowKey): MaybePromise<Uint8Array | undefined> {
    if (isInAny(this.#ranges, row)) throw deletedBefore()
    return this.#view.get(context, table, row)
  }

  scan(context: RequestContext, table: TableId, range: KeyRange, options?: ScanDirection): RowScan {
    if (this.#ranges.some(({ start, end }) => start < range.end && range.start < end)) throw deletedBefore()
    return this.#view.scan(context, table, range, options)
  }
}
