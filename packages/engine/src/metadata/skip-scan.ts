/**
 * A scan that jumps: it reads one row, decides from it where to go on, and passes over everything in between. So the distinct
 * values of a leading part of a row key cost as many rows as there are values, however many rows have them.
 */
import type { RequestContext } from '../context.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { KeyRange, KvRow, RowKey } from '../storage/kv.ts'
import type { TableId, TableView } from '../tables/table.ts'

/**
 * @param jump - told of the row found; answers the row key from which to go on, which must be behind that row
 */
export function skipScan(
  context: RequestContext,
  view: TableView,
  table: TableId,
  range: KeyRange,
  jump: (row: RowKey) => RowKey,
): MaybePromise<void> {
  const scan = view.scan(context, table, range, { expect: 1 })
  const take = (rows: readonly KvRow[]): boolean => {
    const [row] = rows
    if (row === undefined) return false
    scan.seek(jump(row.key))
    return true
  }
  const run = (): MaybePromise<void> => {
    for (;;) {
      const rows = scan.next(1)
      if (rows instanceof Promise) return rows.then((late) => (take(late) ? run() : undefined))
      if (!take(rows)) return
    }
  }
  return closingAfter(scan, run)
}

/** Runs `work`, and closes the scan when it is done, or has failed. */
export function closingAfter(scan: { close(): void }, work: () => MaybePromise<void>): MaybePromise<void> {
  let done: MaybePromise<void>
  try {
    done = work()
  } catch (error) {
    scan.close()
    throw error
  }
  if (done instanceof Promise) return done.finally(() => scan.close())
  scan.close()
}
