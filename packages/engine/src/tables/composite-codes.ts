/** The composite indexes that have rows, found by leaps: one row is read of each. */
import { encodeInt64 } from '../encoding/ordered.ts'
import { type MaybePromise, runSteps, type Steps, waitFor } from '../maybe-promise.ts'
import type { KvReader } from '../storage/kv.ts'
import { parseCompositeHead } from './entities-by-composite-property.ts'
import { rowsOf } from './rows.ts'

/** The code of database and number of each composite index of a database that has rows. */
export function compositeCodes(kv: KvReader, database: string): MaybePromise<readonly string[]> {
  return runSteps(codesFound(kv, database))
}

function* codesFound(kv: KvReader, database: string): Steps<readonly string[]> {
  const found: string[] = []
  const scan = kv.scan(rowsOf('EntitiesByCompositeProperty', database), { expect: 1 })
  try {
    for (;;) {
      const [row] = yield* waitFor(scan.next(1))
      if (row === undefined) return found
      const index = database + encodeInt64(parseCompositeHead(row.key).indexId)
      found.push(index)
      scan.seek(rowsOf('EntitiesByCompositeProperty', index).end)
    }
  } finally {
    scan.close()
  }
}
