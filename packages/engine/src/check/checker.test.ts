/** Repairs on a store that others go on writing to (checker/V1). */
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { mutationOf, worldKeys } from '../../test/property/log-world.ts'
import type { Database } from '../database/database.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { prettyRowKey } from '../encoding/pretty.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import type { Key } from '../model/key.ts'
import type { RowKey } from '../storage/kv.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'

const [, first] = worldKeys

let kv: MemoryKv
let engine: Engine
let database: Database

beforeEach(async () => {
  kv = new MemoryKv()
  engine = await openEngine({ kv, scheduler: new VirtualClock() })
  database = engine.database('p')
})

async function put(value: number | undefined): Promise<void> {
  await database.commit(engine.context(), { mode: 'nonTransactional', mutations: [mutationOf(first, value)] })
}

/** Rows of the ascending property table whose words match. */
async function rowsWith(words: string): Promise<readonly RowKey[]> {
  const space = keySpaces.EntitiesByPropertyAsc
  const rows = await kv.scan({ start: space, end: `${space}\xff` }).next(100)
  return rows.map(({ key }) => key).filter((key) => prettyRowKey(key).includes(words))
}

async function lose(words: string): Promise<void> {
  const [row = ''] = await rowsWith(words)
  await kv.mutate({ key: row, value: undefined })
}

/** Checks and repairs; `meanwhile` runs when the check has begun. */
async function repair(meanwhile: () => Promise<void> = async () => {}): Promise<number> {
  let running: Promise<void> | undefined
  const onProgress = (): void => {
    running ??= meanwhile()
  }
  const { repaired } = await engine.check({ repair: true, onProgress })
  await running
  return repaired
}

describe('a repair', () => {
  test('writes the missing row of an entity, and deletes a row that no entity has', async () => {
    await put(1)
    const [orphan = ''] = await rowsWith('v=1')
    await put(2)
    await kv.mutate({ key: orphan, value: new Uint8Array([1]) })
    await lose('v=2')
    expect(await repair()).toBe(2)
    expect(await engine.check()).toMatchObject({ problemCount: 0 })
  })

  test('does not bring back the row of a value that was written over while the check ran', async () => {
    await put(1)
    await lose('v=1')
    await repair(() => put(2))
    expect(await rowsWith('v=1')).toEqual([])
    expect(await engine.check()).toMatchObject({ problemCount: 0 })
  })

  test('does not delete the row of an entity that came while the check ran', async () => {
    await put(1)
    const [row = ''] = await rowsWith('v=1')
    await put(undefined)
    await kv.mutate({ key: row, value: new Uint8Array([1]) })
    await repair(() => put(1))
    expect(await engine.check()).toMatchObject({ problemCount: 0 })
  })

  test('leaves to pending records what they will write, and puts right what they build on', async () => {
    await put(1)
    database.configure({ applyPolicy: { type: 'manual' } })
    await lose('v=1')
    await lose('list="all"')
    expect(await repair(() => put(2))).toBe(2)
    expect(await rowsWith('v=1')).toHaveLength(1)
    expect(await engine.check()).toMatchObject({ problemCount: 0 })
    await engine.inspector.release(first, 'B')
    expect(await rowsWith('v=1')).toEqual([])
    expect(await engine.check()).toMatchObject({ problemCount: 0, pending: [] })
  })

  test('of a row that all images of a pending entity have writes it', async () => {
    await put(1)
    database.configure({ applyPolicy: { type: 'manual' } })
    await put(2)
    await lose('list="all"')
    expect(await repair()).toBe(1)
    expect(await engine.check()).toMatchObject({ problemCount: 0 })
  })
})

describe('a check of much', () => {
  /** Turns that were given to others, and what is done in each. */
  class CountingClock extends VirtualClock {
    turns = 0
    onTurn = (): void => {}

    override defer(task: () => void): void {
      this.turns++
      this.onTurn()
      super.defer(task)
    }
  }

  const groups = 700
  let clock: CountingClock

  beforeEach(async () => {
    clock = new CountingClock()
    engine = await openEngine({ kv, scheduler: clock })
    database = engine.database('p')
    for (let n = 0; n < groups; n++) {
      const key: Key = { ...first, path: [{ kind: 'G', name: `g${n}` }] }
      await database.commit(engine.context(), { mode: 'nonTransactional', mutations: [mutationOf(key, n)] })
    }
    // The last commits may still wait for a look at their rows, which takes several turns.
    await clock.advance(0)
    clock.turns = 0
  })

  test('goes in slices, with the calls of others in between', async () => {
    const report = await engine.check()
    expect(report.problemCount).toBe(0)
    // Where time stands still a slice ends after 4,096 rows: each entity and each of its index rows is looked at twice.
    const rows = report.entities + 2 * report.indexRows
    expect(rows).toBeGreaterThan(2 * 4096)
    expect(clock.turns).toBeGreaterThanOrEqual(Math.floor(rows / 4096) - 1)
  })

  test('ends when its caller no longer waits for the report', async () => {
    const caller = new AbortController()
    clock.onTurn = () => caller.abort()
    await expect(engine.check({ signal: caller.signal })).rejects.toMatchObject({ code: 'CANCELLED' })
    expect(clock.turns).toBe(1)
  })
})

test('a check looks at the rows of waiting records in slices', async () => {
  const clock = new VirtualClock()
  const waiting = await openEngine({ scheduler: clock, apply: { type: 'manual' } })
  const keyOf = (id: number): Key => ({ partition: first.partition, path: [{ kind: 'A', id: BigInt(id) }] })
  const mutations = Array.from({ length: 1_500 }, (_, i) => mutationOf(keyOf(i + 1), 1))
  await waiting.database('p').commit(waiting.context(), { mode: 'nonTransactional', mutations })
  const turns = vi.spyOn(clock, 'defer')
  expect(await waiting.check()).toMatchObject({ problemCount: 0, logRecords: 1_500 })
  // It reads markers and records, then makes and looks for three rows of each entity.
  expect(turns.mock.calls.length).toBeGreaterThanOrEqual(2)
})
