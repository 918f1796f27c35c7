import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { openLevelKv } from '../../src/storage/level-kv.ts'
import { operations, runAgainstModel } from './kv-model.ts'

describe('level-kv', () => {
  // With 2 kB the caches drop something at nearly every step.
  it.each([
    [0, undefined],
    [2_000, 5],
    [1_000_000, 0],
  ])('behaves as a plain sorted map does, with %i bytes of cache', async (cacheBytes, rowsDeletedMax) => {
    const dir = await mkdtemp(join(tmpdir(), 'sixtables-kv-'))
    const kv = await openLevelKv({ dir, cacheBytes, rowsDeletedMax })
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        await kv.clear()
        await runAgainstModel(kv, sequence)
      }),
      { numRuns: 150 },
    )
    await kv.close()
    await rm(dir, { recursive: true, force: true })
  })
})
