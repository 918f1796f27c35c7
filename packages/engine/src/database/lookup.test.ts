import { expect, test } from 'vitest'
import { encodeKey, encodeProperties } from '../encoding/entity-codec.ts'
import { openEngine } from '../engine/engine.ts'
import type { Key } from '../model/key.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { AsyncKv } from '../testing/async-kv.ts'
import { query } from '../testing/query-world.ts'
import { turnScheduler } from '../testing/turn-scheduler.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const named = (name: string): Key => ({ partition, path: [{ kind: 'K', name }] })
const numbered = (id: number): Key => ({ partition, path: [{ kind: 'K', id: BigInt(id) }] })
/** Children whose rows end alike. */
const child = (parent: number): Key => ({
  partition,
  path: [{ kind: 'P', id: BigInt(parent) }, ...named('child').path],
})

function entity(key: Key, bytes: number): Uint8Array {
  const keyBytes = encodeKey(key)
  const body = { type: 'blob', value: new Uint8Array(bytes), excludeFromIndexes: true } as const
  return Buffer.concat([Buffer.from([0x0a, keyBytes.length]), keyBytes, encodeProperties(new Map([['body', body]]))])
}

async function lookedUp(kv: MemoryKv | AsyncKv, stored: readonly Key[], asked: readonly Key[], bytes = 1) {
  const engine = await openEngine({ kv })
  const database = engine.database('p')
  for (const key of stored) {
    const mutations = [{ operation: 'upsert' as const, entity: entity(key, bytes) }]
    await database.commit(engine.context(), { mode: 'nonTransactional', mutations })
  }
  const { found, missing, deferred } = await database.lookup(engine.context(), { keys: asked })
  await engine.close()
  return { found: found.map(({ key }) => key), missing, deferred }
}

const stores: [string, () => MemoryKv | AsyncKv][] = [
  ['that finds many rows together', () => new MemoryKv()],
  ['that answers by promise', () => new AsyncKv(new MemoryKv())],
]

test.each(stores)('each key is looked up once, in the order of the request, in a store %s', async (_, kvOf) => {
  const stored = [named('a'), named('b'), numbered(1), child(1), child(2)]
  const absent = [named('c'), numbered(2), child(3)]
  const asked = [child(2), absent[0], named('b'), child(1), named('b'), absent[0], numbered(1), absent[2], child(2)]
  expect(await lookedUp(kvOf(), stored, asked as Key[])).toEqual({
    found: [child(2), named('b'), child(1), numbered(1)],
    missing: [absent[0], absent[2]],
    deferred: [],
  })
})

test.each(stores)('so is each of several hundred keys, in a store %s', async (_, kvOf) => {
  const stored = Array.from({ length: 150 }, (_, i) => (i % 3 === 0 ? numbered(i + 1) : child(i + 1)))
  const absent = Array.from({ length: 50 }, (_, i) => named(`absent ${i}`))
  const asked = [...stored.toReversed(), ...absent, ...stored, ...absent]
  expect(await lookedUp(kvOf(), stored, asked)).toEqual({ found: stored.toReversed(), missing: absent, deferred: [] })
})

test.each(stores)('the rest of an answer that grows too large is deferred, in a store %s', async (_, kvOf) => {
  const stored = Array.from({ length: 8 }, (_, i) => named(`large ${i}`))
  const asked = [named('absent'), ...stored, named('also absent')]
  const { found, missing, deferred } = await lookedUp(kvOf(), stored, asked, 1_000_000)
  expect(found).toEqual(stored.slice(0, 5))
  expect(missing).toEqual([named('absent')])
  expect(deferred).toEqual([...stored.slice(5), named('also absent')])
})

let turns = 0

function engineInTurns() {
  return openEngine({ scheduler: turnScheduler(() => turns++) })
}

test('the rows of a thousand long keys are made in many turns', async () => {
  const engine = await engineInTurns()
  const path = Array.from({ length: 99 }, (_, i) => ({ kind: `P${i}`, id: 1n }))
  const keys = Array.from({ length: 1000 }, (_, i) => ({ partition, path: [...path, ...numbered(i + 1).path] }))
  turns = 0
  expect((await engine.database('p').lookup(engine.context(), { keys })).missing).toEqual(keys)
  expect(turns).toBeGreaterThan(12)
  await engine.close()
})

test('masks are applied to large entities each in a turn', async () => {
  const engine = await engineInTurns()
  const database = engine.database('p')
  const keys = Array.from({ length: 6 }, (_, i) => named(`large ${i}`))
  for (const key of keys) {
    const mutations = [{ operation: 'upsert' as const, entity: entity(key, 300_000) }]
    await database.commit(engine.context(), { mode: 'nonTransactional', mutations })
  }
  turns = 0
  const propertyMask = ['absent']
  const { found } = await database.lookup(engine.context(), { keys, propertyMask })
  expect(found.map(({ image }) => image.properties.length)).toEqual(keys.map(() => 0))
  expect(turns).toBe(keys.length)
  turns = 0
  const { results } = await database.runQuery(engine.context(), { query: query({ kind: 'K' }), propertyMask })
  expect(results.map(({ image }) => image?.properties.length)).toEqual(keys.map(() => 0))
  expect(turns).toBe(keys.length)
  await engine.close()
})
