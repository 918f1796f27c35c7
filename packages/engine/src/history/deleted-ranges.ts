/**
 * Ranges of rows that were deleted together with their log: no past moment of before can be shown there any more.
 *
 *   reset of a namespace at T      a read at T - 1 of that namespace is refused; elsewhere it goes on       (past-view/H2)
 */
import type { RequestContext } from '../context.ts'
import { contention, type DatastoreError, failedPrecondition } from '../errors.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'
import type { RowScan, TableId, TableView } from '../tables/table.ts'

/** The view of a past moment, which refuses what was deleted since (log/retention.ts). */
export function guarded(view: TableView, ranges: readonly KeyRange[]): TableView {
  return ranges.length === 0 ? view : new GuardedView(view, ranges)
}

/** The refusal of a transaction that has read rows deleted since. */
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

  scan(
    context: RequestContext,
    table: TableId,
    range: KeyRange,
    options?: { readonly reverse?: boolean; readonly expect?: number },
  ): RowScan {
    if (this.#ranges.some(({ start, end }) => start < range.end && range.start < end)) throw deletedBefore()
    return this.#view.scan(context, table, range, options)
  }
}
