import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { mutationOf } from '../../test/property/log-world.ts'
import type { Key } from '../model/key.ts'
import { MemorySnapshot } from '../storage/memory-kv.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { type Engine, openEngine } from './engine.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }

const other: Key = { partition, path: [{ kind: 'ToDo', id: 1n }] }

/** Entities of one group: more than are applied in one slice. */
const keys = Array.from(
  { length: 600 },
  (_, i): Key => ({
    partition,
    path: [
      { kind: 'List', id: 1n },
      { kind: 'ToDo', id: BigInt(i + 1) },
    ],
  }),
)

let engine: Engine

beforeEach(async () => {
  engine = await openEngine({ scheduler: new VirtualClock(), apply: { type: 'manual' } })
})

afterEach(async () => {
  await engine.close()
})

async function put(one: readonly Key[]): Promise<void> {
  for (const key of one) {
    const mutations = [mutationOf(key, 1)]
    const request = { mode: 'transactional', singleUse: { mode: 'readWrite' }, mutations } as const
    await engine.database('p').commit(engine.context(), request)
  }
}

test('a restore waits for what a strong read applies that begins with it', async () => {
  const database = engine.database('p')
  const empty = await engine.snapshot()
  await put(keys)
  const restored = engine.restore(empty)
  const read = database.lookup(engine.context(), { keys })
  await restored
  // It sees all that was there before, or nothing.
  expect([0, keys.length]).toContain((await read).found.length)
  expect((await database.lookup(engine.context(), { keys })).found).toEqual([])
  expect((await engine.check()).problems).toEqual([])
})

test('a transaction that begins while a restore waits commits nothing after it', async () => {
  const database = engine.database('p')
  const empty = await engine.snapshot()
  await put([other, ...keys])
  const read = database.lookup(engine.context(), { keys })
  const restored = engine.restore(empty)
  await new Promise((resolve) => setImmediate(resolve))
  const transaction = await database.beginTransaction(engine.context(), { mode: 'readWrite' })
  const { found } = await database.lookup(engine.context(), { keys: [other], read: { transaction } })
  expect(found).toHaveLength(1)
  await Promise.all([read, restored])
  const late = { mode: 'transactional', transaction, mutations: [mutationOf(other, 2)] } as const
  await expect((async () => await database.commit(engine.context(), late))()).rejects.toThrow('try again')
})

test('the rows of a snapshot are counted when they are asked for', async () => {
  const counted = vi.spyOn(MemorySnapshot.prototype, 'size', 'get')
  const snapshot = await engine.snapshot()
  expect(counted).not.toHaveBeenCalled()
  await put([other])
  const more = await engine.snapshot()
  expect(more.rows).toBeGreaterThan(snapshot.rows)
  for (const one of [snapshot, more]) one.close()
  counted.mockRestore()
})
