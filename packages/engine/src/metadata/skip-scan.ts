/**
 * A scan that jumps: it reads one row, decides from it where to go on, and passes over everything in between. So the distinct
 * values of a leading part of a row key cost as many rows as there are values, however many rows have them.
 */
import type { RequestContext } from '../context.ts'
import { finallyDo, type MaybePromise, runSteps, type Steps, waitFor } from '../maybe-promise.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'
import type { RowScan, TableId, TableView } from '../tables/table.ts'

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
  return finallyDo(
    () => runSteps(jumps(scan, jump)),
    () => scan.close(),
  )
}

function* jumps(scan: RowScan, jump: (row: RowKey) => RowKey): Steps<void> {
  for (;;) {
    const [row] = yield* waitFor(scan.next(1))
    if (row === undefined) return
    scan.seek(jump(row.key))
  }
}
