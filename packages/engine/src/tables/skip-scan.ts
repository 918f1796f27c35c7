/**
 * A scan that jumps: it reads one row and seeks behind all rows that share its first part. To find the kinds A and B among
 * A:1, A:2 … A:1000, B:1 it reads A:1, then B:1. So finding the distinct first parts costs one row each.
 */
import { type MaybePromise, type Steps, waitFor } from '../maybe-promise.ts'
import type { KvScan, RowKey } from '../storage/kv.ts'

/** Closes the scan at its end. @param jump - gets a row, gives a key behind it to read on from @param rest - yields */
export function* skipScan(scan: KvScan, jump: (row: RowKey) => RowKey, rest?: () => MaybePromise<void>): Steps<void> {
  try {
    for (;;) {
      const [row] = yield* waitFor(scan.next(1))
      if (row === undefined) return
      scan.seek(jump(row.key))
      if (rest !== undefined) yield* waitFor(rest())
    }
  } finally {
    scan.close()
  }
}
