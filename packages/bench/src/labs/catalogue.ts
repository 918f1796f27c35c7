/** The labs, in the order in which they are best worked through. */
import type { Lab } from '../lab.ts'
import { allocateIds } from './allocate-ids.ts'
import { batching } from './batching.ts'
import { counting } from './counting.ts'
import { entityGroupContention } from './entity-group-contention.ts'
import { expiry } from './expiry.ts'
import { gatewaysLab } from './gateways.ts'
import { hotKey } from './hot-key.ts'
import { indexCost } from './index-cost.ts'
import { keyRangeState } from './key-range-state.ts'
import { kindMigration } from './kind-migration.ts'
import { listCompaction } from './list-compaction.ts'
import { listOfLists } from './list-of-lists.ts'
import { listRemoval } from './list-removal.ts'
import { massDelete } from './mass-delete.ts'
import { migrateKeys } from './migrate-keys.ts'
import { monotonicIndex } from './monotonic-index.ts'
import { namesAndTypes } from './names-and-types.ts'
import { offsetCursor } from './offset-cursor.ts'
import { optimisticPessimistic } from './optimistic-pessimistic.ts'
import { queryShape } from './query-shape.ts'
import { ramp500505 } from './ramp-500-50-5.ts'
import { readYourWrites } from './read-your-writes.ts'
import { replayLab } from './replay.ts'
import { sequenceNumbers } from './sequence-numbers.ts'
import { sequentialKeys } from './sequential-keys.ts'
import { shardingMistakes } from './sharding-mistakes.ts'
import { writePath } from './write-path.ts'

export const labs: readonly Lab[] = [
  writePath,
  readYourWrites,
  indexCost,
  namesAndTypes,
  batching,
  allocateIds,
  keyRangeState,
  migrateKeys,
  sequentialKeys,
  monotonicIndex,
  hotKey,
  shardingMistakes,
  ramp500505,
  kindMigration,
  entityGroupContention,
  optimisticPessimistic,
  sequenceNumbers,
  listRemoval,
  listCompaction,
  listOfLists,
  queryShape,
  counting,
  offsetCursor,
  massDelete,
  expiry,
  gatewaysLab,
  replayLab,
]
