import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type LevelKv, openLevelKv } from '../../src/storage/level-kv.ts'
import { operations, runAgainstModel } from './kv-model.ts'

describe('level-kv', () => {
  let dir: string
  let kv: LevelKv

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'sixtables-kv-'))
    kv = await openLevelKv({ dir })
  })

  afterAll(async () => {
    await kv.close()
    await rm(dir, { recursive: true, force: true })
  })

  it('behaves as a plain sorted map does', async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        await kv.clear()
        await runAgainstModel(kv, sequence)
      }),
      { numRuns: 150 },
    )
  })
})
