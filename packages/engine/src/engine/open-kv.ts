/** The default store of an engine: on disk, or in memory with property rows on demand. */
import type { Scheduler } from '../clock.ts'
import { databaseRowKey, indexOptionsIn } from '../database/database-row.ts'
import { OnDemandRows } from '../on-demand/on-demand-rows.ts'
import type { Kv } from '../storage/kv.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { rowsOf } from '../tables/rows.ts'
import type { EngineOptions } from './engine-options.ts'

export interface LocalStore {
  readonly kv: Kv
  /** The same store, if it makes rows at their first read. */
  readonly onDemand?: OnDemandRows
}

/** @throws errors of data-folder.ts for a folder that cannot be opened */
export async function openStore({ kv, dir, durability, repairLog, scheduler }: EngineOptions): Promise<LocalStore> {
  if (kv !== undefined) return kv instanceof OnDemandRows ? { kv, onDemand: kv } : { kv }
  if (dir === undefined) {
    const onDemand = memoryStore(scheduler)
    return { kv: onDemand, onDemand }
  }
  // Loaded on demand, since a store in memory does not need LevelDB.
  const { openDataFolder } = await import('../storage/data-folder.ts')
  return {
    kv: await openDataFolder({
      dir,
      durability,
      repairLog,
      scheduler,
      readBeforeWritten: rowsOf('Entities').start,
    }),
  }
}

/** A store in memory that makes property rows at their first read, by the rules in its own rows. */
export function memoryStore(scheduler?: Scheduler, rows: MemoryKv = new MemoryKv()): OnDemandRows {
  return new OnDemandRows(rows, (database) => indexOptionsIn(rows.get(databaseRowKey(database))), scheduler)
}
