import { beforeEach, describe, expect, test } from 'vitest'
import { mutationOf } from '../../test/property/log-world.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import { limits } from '../limits.ts'
import type { Key } from '../model/key.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { ReadSet } from './read-set.ts'
import type { ConcurrencyMode } from './transaction.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const megabyte = 1_000_000
const rowOfMegabyte = (i: number): string => String(i).padEnd(megabyte, 'x')

describe('a read set', () => {
  test('refuses what would pass its limit, and says so', () => {
    const set = new ReadSet()
    const count = Math.floor(limits.transactionReadBytesMax / (megabyte + 128))
    for (let i = 0; i < count; i++) set.addRow(rowOfMegabyte(i))
    expect(() => set.addRow(rowOfMegabyte(count))).toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        message: expect.stringMatching(/has read keys and key ranges of 67008576 bytes.*at most 67108864.*read-only/),
      }),
    )
    expect(() => set.addSpan(rowOfMegabyte(0), 'x')).toThrow(/at most 67108864/)
    expect(set.size).toBe(count)
  })

  test('counts a row and a range once, and gives its bytes back to the budget when it is cleared or taken over', () => {
    const budget = { bytes: 0, bytesMax: 1_000 }
    const set = new ReadSet(budget)
    for (let i = 0; i < 5; i++) {
      set.addRow('row')
      set.addSpan('a', 'b')
    }
    expect(budget.bytes).toBe(3 + 128 + 2 + 128)
    const other = new ReadSet(budget)
    other.addRow('other')
    other.addRow('row')
    set.addAll(other)
    other.clear()
    expect(budget.bytes).toBe(3 + 128 + 2 + 128 + 5 + 128)
    const first = new ReadSet(budget)
    first.addAll(set)
    set.clear()
    expect(budget.bytes).toBe(3 + 128 + 2 + 128 + 5 + 128)
    expect(first.removeAll().size).toBe(3)
    expect([budget.bytes, first.isEmpty]).toEqual([0, true])
  })
})

describe('the bytes that all transactions together have read', () => {
  const keys: readonly Key[] = ['a', 'b', 'c', 'd'].map((name) => ({ partition, path: [{ kind: 'G', name }] }))
  let engine: Engine

  beforeEach(async () => {
    const scheduler = new VirtualClock()
    engine = await openEngine({ scheduler, mode: 'firestore', apply: { type: 'immediate' }, transactionBytesMax: 500 })
  })

  const modes: readonly ConcurrencyMode[] = ['pessimistic', 'optimistic', 'optimisticWithEntityGroups']
  test.each(modes)('are bounded, and free again when one ends: %s', async (concurrency) => {
    const database = engine.database('p')
    engine.configure({ concurrency })
    const begin = async (mode: 'readWrite' | 'readOnly' = 'readWrite'): Promise<Uint8Array> =>
      database.beginTransaction(engine.context(), { mode })
    const get = async (key: Key | undefined, transaction: Uint8Array): Promise<unknown> =>
      key && database.lookup(engine.context(), { keys: [key], read: { transaction } })
    const [one, two, three] = [await begin(), await begin(), await begin('readOnly')]
    for (let i = 0; i < 10; i++) await get(keys[0], one)
    await get(keys[1], one)
    await get(keys[2], two)
    await expect(get(keys[3], two)).rejects.toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      message: expect.stringMatching(/more than the 500 that are allowed.*--max-transaction-bytes/),
    })
    for (const key of keys) await get(key, three)
    await database.rollback(engine.context(), one)
    await get(keys[3], two)
    const mutations = [mutationOf(keys[3] as Key, 1)]
    await database.commit(engine.context(), { mode: 'transactional', transaction: two, mutations })
  })
})
