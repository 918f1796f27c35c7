/**
 * Builds a composite index over the entities that are there already, beside writes.
 *
 *   definition stored (building: writes maintain it) ─▶ each entity's rows written ─▶ definition stored (serving)
 *
 * X4  Every record from before the definition is applied before the walk begins, so no later apply lacks the index's rows.
 * X5  An entity's rows are computed and written while no commit is between evaluation and append, from its newest image.
 *
 * Known: the worker maps over all entities, not the kind index. Ours: it walks the Entities rows of the database.
 */
import { keyCodesOfPath, skipPartition } from '../encoding/key-codec.ts'
import { encodeText } from '../encoding/ordered.ts'
import type { CataloguedIndex, IndexCatalogue } from '../indexes/catalogue.ts'
import type { CommitLog } from '../log/commit-log.ts'
import { type IndexRules, indexRowsOfCell } from '../log/index-delta.ts'
import type { IndexDefinition } from '../model/index-definition.ts'
import type { Kv, KvWrite, RowKey } from '../storage/kv.ts'
import { entitiesOfDatabase } from '../tables/entities.ts'

const entitiesPerStep = 64

export interface IndexBuilderParts {
  readonly kv: Kv
  readonly log: CommitLog
  /** Code of the database. */
  readonly database: string
  readonly catalogue: IndexCatalogue
  /** The database's rules; only its index options are used. */
  readonly rules: IndexRules
  /** Lets other work in between two steps. */
  pause(): Promise<void>
  /** Called after each step with the entities looked at so far. */
  onProgress?(entities: number): void
}

/** Defines an index and builds it. Resolves when it serves. @throws ALREADY_EXISTS, INVALID_ARGUMENT */
export async function buildIndex(parts: IndexBuilderParts, definition: IndexDefinition): Promise<CataloguedIndex> {
  const { kv, log, catalogue, database } = parts
  const building = await log.exclusive(async () => {
    await log.quiesce()
    await log.applier.rollForwardDatabase(database, 'policy')
    const proposed = catalogue.propose(definition)
    await kv.mutate(catalogue.writeOf(proposed))
    catalogue.record(proposed)
    return proposed
  })
  let seen = 0
  const kind = encodeText(definition.kind)
  const scan = kv.scan(entitiesOfDatabase(database))
  try {
    for (;;) {
      const rows = await scan.next(entitiesPerStep)
      if (rows.length === 0) break
      const ofKind = rows.map(({ key }) => key).filter((row) => codesOf(row).kind === kind)
      if (ofKind.length > 0) await log.exclusive(() => writeRows(parts, building, ofKind))
      seen += rows.length
      parts.onProgress?.(seen)
      await parts.pause()
    }
  } finally {
    scan.close()
  }
  const serving: CataloguedIndex = { ...building, state: 'serving' }
  await kv.mutate(catalogue.writeOf(serving))
  catalogue.record(serving)
  return serving
}

function codesOf(entityRow: RowKey): ReturnType<typeof keyCodesOfPath> {
  const partitionEnd = skipPartition(entityRow, 1)
  return keyCodesOfPath(entityRow.slice(1, partitionEnd), entityRow.slice(partitionEnd))
}

/** X5: the index's rows of these entities. */
async function writeRows(parts: IndexBuilderParts, index: CataloguedIndex, rows: readonly RowKey[]): Promise<void> {
  const { kv, log, rules } = parts
  const own: IndexRules = { indexes: [index], indexOptions: rules.indexOptions }
  // Batches on their way would otherwise land between reading a cell and writing its rows.
  await log.quiesce()
  const writes: KvWrite[] = []
  for (const row of rows) {
    // A record that is still pending was committed after the definition (X4), so applying it takes back the rows of its
    // image before and brings those of its image after: the stored cell is one of the two, and either is right here.
    const cell = await kv.get(row)
    for (const { table, rowKey, value } of indexRowsOfCell(codesOf(row), cell, own)) {
      if (table === 'EntitiesByCompositeProperty') writes.push({ key: rowKey, value })
    }
  }
  if (kv.supports.batch) await kv.batch(writes)
  else for (const write of writes) await kv.mutate(write)
}
