/**
 * The row that says that a database exists, and by which rules its entities are indexed:
 *
 *   M <database> "database"   → JSON of its index options
 *
 * It is written before the first entity: the rules must not change with the mode of a later run, or rows would go stale.
 */
import { metadataRowKey } from '../encoding/keyspace.ts'
import type { RowKey } from '../storage/kv.ts'
import type { StoredIndexOptions } from '../tables/scatter.ts'
import type { Mode } from './settings.ts'

export const databaseTopic = 'database'

export function databaseRowKey({
  projectId,
  databaseId,
}: {
  readonly projectId: string
  readonly databaseId: string
}): RowKey {
  return metadataRowKey({ projectId, databaseId, topic: databaseTopic })
}

/** The rules of a database that nothing was written to yet. */
export function firstIndexOptions(mode: Mode): StoredIndexOptions {
  const isLegacy = mode === 'legacy'
  return { emptyArrayAsNull: isLegacy, scatter: isLegacy ? 'legacy' : 'sparse' }
}
