import { expect, test } from 'vitest'
import { encodeKey, encodeProperties } from '../../encoding/entity-codec.ts'
import { type Engine, openEngine } from '../../engine/engine.ts'
import type { Key } from '../../model/key.ts'
import { MemoryKv } from '../../storage/memory-kv.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const key: Key = { partition, path: [{ kind: 'K', name: 'x' }] }
const child: Key = { partition, path: [...key.path, { kind: 'K', name: 'y' }] }

async function put(engine: Engine, of: Key, n: bigint): Promise<bigint> {
  const keyBytes = encodeKey(of)
  const properties = encodeProperties(new Map([['n', { type: 'integer', value: n }]]))
  const entity = Buffer.concat([Buffer.from([0x0a, keyBytes.length]), keyBytes, properties])
  const mutations = [{ operation: 'upsert' as const, entity }]
  const { mutationResults } = await engine
    .database('p')
    .commit(engine.context(), { mode: 'nonTransactional', mutations })
  return mutationResults[0]?.version ?? 0n
}

test('an entity has a version for each commit that changed it, and each can be read at the moment that its report names', async () => {
  const engine = await openEngine({ kv: new MemoryKv() })
  const database = engine.database('p')
  expect((await engine.inspector.versions(key)).versions).toEqual([])
  const [first, second] = [await put(engine, key, 1n), await put(engine, key, 2n)]
  await put(engine, child, 7n)
  await database.commit(engine.context(), { mode: 'nonTransactional', mutations: [{ operation: 'delete', key }] })
  const { versions } = await engine.inspector.versions(key)
  expect(versions.map(({ version, operation, readable }) => ({ version, operation, readable }))).toEqual([
    { version: `${first}`, operation: 'put', readable: true },
    { version: `${second}`, operation: 'put', readable: true },
    { version: expect.any(String), operation: 'delete', readable: true },
  ])
  for (const [i, { readTime = '' }] of versions.slice(0, 2).entries()) {
    const micros = BigInt(Date.parse(`${readTime.slice(0, 19)}Z`)) * 1000n + BigInt(readTime.slice(20, 26))
    const { found } = await database.lookup(engine.context(), { keys: [key], read: { readTime: micros } })
    expect(found[0]?.image.version).toBe([first, second][i])
    expect((await engine.inspector.entity(key, found[0]?.image.version))?.properties).toEqual(
      found[0]?.image.properties,
    )
  }
  expect((await engine.inspector.versions(key, { limit: 1 })).versions).toEqual(versions.slice(2))
  const { records, hasMore } = await engine.inspector.log(key, { records: 2 })
  expect([records.length, hasMore]).toEqual([2, true])
  expect(records).toEqual((await engine.inspector.log(key)).records.slice(-2))
  expect(versions[2]).not.toHaveProperty('readTime')
  expect(await engine.inspector.entity(key)).toBeUndefined()
  await expect(engine.inspector.entity(key, 5n)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await engine.close()
})

test('to look at versions and the newest state leaves a held commit where it is', async () => {
  const engine = await openEngine({ kv: new MemoryKv() })
  await put(engine, key, 1n)
  engine.database('p').configure({ applyPolicy: { type: 'manual' } })
  const held = await put(engine, key, 2n)
  const { versions } = await engine.inspector.versions(key)
  expect(versions.map(({ state }) => state)).toEqual(['applied', 'committed'])
  expect((await engine.inspector.entity(key))?.version).toBe(held)
  expect((await engine.inspector.pending()).pending).toHaveLength(1)
  await engine.close()
})
