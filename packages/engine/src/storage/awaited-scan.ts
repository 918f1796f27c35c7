/**
 * A scan whose rows must be made first, such as those of a past moment. It can be used at once: scan(), seek(ToDo:5), next(10)
 * waits in next() until the rows are made, and then reads from ToDo:5 on.
 */
import type { KvScan, RowKey } from './kv.ts'

/** @param opened - resolves with the scan */
export function awaitedScan(opened: Promise<KvScan>): KvScan {
  let scan: KvScan | undefined
  let sought: RowKey | undefined
  let isClosed = false
  const begin = (made: KvScan): void => {
    scan = made
    if (sought !== undefined) made.seek(sought)
    if (isClosed) made.close()
  }
  // An error is reported to the next caller that asks for rows.
  opened.then(begin, () => {})
  return {
    next: async (count) => (await opened).next(count),
    seek(key) {
      if (scan === undefined) sought = key
      else scan.seek(key)
    },
    close() {
      isClosed = true
      scan?.close()
    },
  }
}
