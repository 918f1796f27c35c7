import { beforeEach, describe, expect, test } from 'vitest'
import { mutationOf, storedValue, worldKeys } from '../../test/property/log-world.ts'
import type { Database } from '../database/database.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import type { Key } from '../model/key.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'

const [, first] = worldKeys

let clock: VirtualClock
let engine: Engine
let database: Database

beforeEach(async () => {
  clock = new VirtualClock()
  engine = await openEngine({ scheduler: clock, mode: 'firestore', apply: { type: 'immediate' } })
  database = engine.database('p')
})

async function begin(previousTransaction?: Uint8Array): Promise<Uint8Array> {
  return database.beginTransaction(engine.context(), {
    mode: 'readWrite',
    ...(previousTransaction === undefined ? {} : { previousTransaction }),
  })
}

async function get(key: Key, transaction?: Uint8Array): Promise<number | undefined> {
  const read = transaction === undefined ? {} : { read: { transaction } }
  const { found } = await database.lookup(engine.context(), { keys: [key], ...read })
  return found[0] === undefined ? undefined : storedValue(found[0].image.properties)
}

async function commit(transaction: Uint8Array | undefined, ...writes: readonly [Key, number][]): Promise<void> {
  const mutations = writes.map(([key, value]) => mutationOf(key, value))
  await database.commit(
    engine.context(),
    transaction === undefined
      ? { mode: 'nonTransactional', mutations }
      : { mode: 'transactional', transaction, mutations },
  )
}

describe('a contended row', () => {
  test('gives each of many that add to a counter and try again its turn, after the first conflict (contended-rows/C1)', async () => {
    await commit(undefined, [first, 0])
    let aborted = 0
    const add = async (previous?: Uint8Array): Promise<void> => {
      const transaction = await begin(previous)
      try {
        const value = await get(first, transaction)
        await Promise.resolve()
        await commit(transaction, [first, (value ?? 0) + 1])
      } catch (error) {
        expect(error).toMatchObject({ code: 'ABORTED' })
        aborted++
        await add(transaction)
      }
    }
    const client = async (): Promise<void> => {
      for (let i = 0; i < 10; i++) await add()
    }
    await Promise.all(Array.from({ length: 8 }, client))
    expect(await get(first)).toBe(80)
    // The first eight have all read before the row was known as contended; of these seven are victims.
    expect(aborted).toBeLessThanOrEqual(8)
    // Nearly each of the eighty waited for a turn once.
    const [busiest] = engine.tablets.groups(1)
    expect(busiest?.waitsPerSecond).toBeGreaterThan((busiest?.commitsPerSecond ?? 0) / 2)
  })

  test('is shared after all when its holder takes longer than the lock timeout', async () => {
    const [one, two, holder, reader] = [await begin(), await begin(), await begin(), await begin()]
    await get(first, one)
    await get(first, two)
    const ends = commit(one, [first, 1])
    const [holding, reading] = [get(first, holder), get(first, reader)]
    await expect(commit(two, [first, 2])).rejects.toMatchObject({ code: 'ABORTED' })
    await ends
    expect(await holding).toBe(1)
    await clock.advance(2001)
    expect(await reading).toBe(1)
    await commit(holder)
  })
})
