import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LevelKv, openLevelKv } from '../../src/storage/level-kv.ts'
import { kvContract } from './kv.contract.ts'
import type { OpenedKv } from './row-kv.contract.ts'

async function openTemporary(durability: 'process' | 'power', cacheBytes?: number): Promise<OpenedKv<LevelKv>> {
  const dir = await mkdtemp(join(tmpdir(), 'sixtables-kv-'))
  const kv = await openLevelKv({ dir, durability, ...(cacheBytes === undefined ? {} : { cacheBytes }) })
  const cleanup = async (): Promise<void> => {
    await kv.close()
    await rm(dir, { recursive: true, force: true })
  }
  return { kv, cleanup }
}

kvContract('level-kv', () => openTemporary('process'), { answersAtOnce: false })
kvContract('level-kv without caches', () => openTemporary('process', 0), { answersAtOnce: false })
kvContract('level-kv with durability power', () => openTemporary('power'), { answersAtOnce: false })
