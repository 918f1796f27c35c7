/**
 * The row that records a database and the rules by which its entities are indexed:
 *
 *   M <database> "database"   → JSON of its index options
 *
 * It is written before the first entity. A later run in another mode must keep these rules, or index rows become stale.
 */
import type { RowKey } from '../storage/kv.ts'
import { topicRowKey } from '../tables/metadata-rows.ts'
import type { StoredIndexOptions } from '../tables/scatter.ts'
import type { Mode } from './settings.ts'

export const databaseTopic = 'database'

/** @param database - its code */
export function databaseRowKey(database: string): RowKey {
  return topicRowKey(database, databaseTopic)
}

/** The rules in the row of a database; the default rules if there is no row. */
export function indexOptionsIn(row: Uint8Array | undefined): StoredIndexOptions {
  return row === undefined ? {} : (JSON.parse(Buffer.from(row).toString('utf8')) as StoredIndexOptions)
}

/** The rules of a database without writes. */
export const firstIndexOptions: Readonly<Record<Mode, StoredIndexOptions>> = {
  firestore: { emptyArrayAsNull: false, scatter: 'sparse' },
  legacy: { emptyArrayAsNull: true, scatter: 'legacy' },
}
