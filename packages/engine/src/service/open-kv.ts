/** The store that an engine opens when it is given none: on disk, or in memory with property indexes on demand. */
import type { Kv } from '../storage/kv.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { OnDemandRows } from '../tables/on-demand-rows.ts'
import type { EngineOptions } from './engine-options.ts'

/** @throws what data-folder.ts says of a folder that cannot be opened */
export async function openKv({ dir, durability, repairLog }: EngineOptions): Promise<Kv> {
  if (dir === undefined) return new OnDemandRows(new MemoryKv())
  // Loaded only when needed: a store in memory must not pay for LevelDB's start.
  const { openDataFolder } = await import('../storage/data-folder.ts')
  return openDataFolder({
    dir,
    ...(durability === undefined ? {} : { durability }),
    ...(repairLog === undefined ? {} : { repairLog }),
  })
}
