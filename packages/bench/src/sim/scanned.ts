/**
 * The reads of some work, as the tablets count them: rows that it found, and deleted rows (tombstones) that its scans stepped over.
 * Nothing else may run at the same time, because its reads would be counted too.
 */
import type { Store } from './store.ts'

export interface Scanned {
  readonly rows: number
  readonly tombstones: number
  readonly ms: number
}

/** Tombstones are the row operations that the tablets count, minus the rows that were found. */
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
