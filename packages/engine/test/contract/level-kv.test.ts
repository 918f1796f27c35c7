import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { rowsFrom } from '../../src/storage/kv.ts'
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

async function valuesOf(kv: LevelKv, start: string, end: string): Promise<string[]> {
  const values: string[] = []
  for await (const { value } of rowsFrom(kv.scan({ start, end }), 1)) values.push(String(value))
  return values
}

/** Each way in which a row of a table is used for the first time while a write to it is on its way. */
test.each<[string, (kv: LevelKv) => unknown]>([
  ['a read', (kv) => kv.get('Ea')],
  ['a scan', (kv) => valuesOf(kv, 'Ea', 'Eb')],
  ['a scan of a wide range', (kv) => valuesOf(kv, 'A', 'Z')],
])('after %s that found the row before a write, reads find the written one', async (_, use) => {
  const { kv, cleanup } = await openTemporary('process')
  await kv.mutate({ key: 'Ea', value: Buffer.from('old') })
  const written = kv.batch([{ key: 'Ea', value: Buffer.from('new') }])
  const used = use(kv)
  await written
  await used
  for (let i = 0; i < 2; i++) {
    expect(String(kv.get('Ea'))).toBe('new')
    expect(await valuesOf(kv, 'E', 'F')).toEqual(['new'])
  }
  await cleanup()
})
