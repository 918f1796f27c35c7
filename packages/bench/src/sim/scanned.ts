/**
 * The reads of a piece of work, as the tablets are charged for it: rows that it found, and deleted rows that its scans read past.
 *
 * SC1  Nothing else may run meanwhile: what others are charged would be counted as well.
 */
import type { Store } from './store.ts'

export interface Scanned {
  /** Rows read, in all tables. */
  readonly rows: number
  /** Deleted rows that a scan stepped over, in all tables. */
  readonly tombstones: number
  readonly ms: number
}

/** Row operations that the tablets are charged for, less the rows that were found, are deleted rows. */
export async function scanned(store: Store, work: () => Promise<void>): Promise<Scanned> {
  const { tablets } = store.engine
  let rows = 0
  const end = tablets.onSample((sample) => {
    rows += sample.rows
  })
  const [charged, begun] = [tablets.charged, store.nowMs]
  try {
    await work()
  } finally {
    end()
  }
  return { rows, tombstones: tablets.charged - charged - rows, ms: store.nowMs - begun }
}
