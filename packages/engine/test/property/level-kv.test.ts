import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { Level } from 'level'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { Areas, areaTableKey } from '../../src/storage/areas.ts'
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
      { numRuns: runs(50) },
    )
    await kv.close()
    await rm(dir, { recursive: true, force: true })
  })

  it('has as many areas after a hundred deletions of ranges as before, and the rows that were written after them', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'sixtables-kv-'))
    const kv = await openLevelKv({ dir, rowsDeletedMax: 0 })
    const scopes = Array.from({ length: 100 }, (_, i) => `p${100 + i}`)
    const rowsOf = (scope: string) =>
      ['a', 'b'].map((name) => ({ key: scope + name, value: Buffer.from('long enough') }))
    for (const scope of scopes) await kv.batch(rowsOf(scope))
    for (const scope of scopes) {
      await kv.deleteRanges([{ start: scope, end: `${scope}~` }])
      await kv.batch(rowsOf(scope).slice(1))
    }
    await kv.tidy()
    expect((await kv.scan({ start: '', end: '~' }).next(1000)).map(({ key }) => key)).toEqual(
      scopes.map((one) => `${one}b`),
    )
    await kv.close()
    const level = new Level<Buffer, Buffer>(join(dir), { keyEncoding: 'buffer', valueEncoding: 'buffer' })
    const table = (await level.get(Buffer.from(areaTableKey, 'latin1'))) as Buffer
    const areas = Areas.from(table.subarray(0, -4))
    expect(areas.parts({ start: '', end: '~' })).toEqual([{ start: '', end: '~', prefix: '' }])
    expect(areas.leftover).toEqual([])
    await level.close()
    await rm(dir, { recursive: true, force: true })
  })
})
