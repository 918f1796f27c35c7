/**
 * A scan that jumps: it reads one row and seeks behind all rows that share its first part. To find the kinds A and B among
 * A:1, A:2 … A:1000, B:1 it reads A:1, then B:1. So finding the distinct first parts costs one row each.
 */
import type { RequestContext } from '../context.ts'
import { finallyDo, type MaybePromise, runSteps, type Steps, waitFor } from '../maybe-promise.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'
import type { RowScan, TableId, TableView } from '../tables/table.ts'

/** @param jump - gets each row found and returns the row key to continue from, which must be behind that row */
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
