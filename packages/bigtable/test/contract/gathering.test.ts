/** Calls of one turn of the event loop share requests. */
import { type Key, openEngine } from '@sixtables/engine'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { entity, integer, property } from '../../../engine/test/property/entity-messages.ts'
import { severalGateways } from '../../src/gateways/several-gateways.ts'
import { newestIs, type RowStore } from '../../src/row-store/row-store.ts'
import { FakeBigtable, type FakeMethod } from '../support/fake-bigtable.ts'
import { openPatiently } from '../support/fake-client.ts'

let fake: FakeBigtable
let rows: RowStore
let tables = 0

beforeAll(async () => {
  fake = await FakeBigtable.start()
})
afterAll(() => fake.close())
beforeEach(async () => {
  await rows?.close()
  rows = await openPatiently(fake.address, `t${tables++}`)
})
afterAll(() => rows.close())

const set = (at: bigint, value: string) => ({ type: 'set', family: 'v', at, value: Buffer.from(value) }) as const
const valuesOf = async (key: string): Promise<readonly string[]> =>
  ((await rows.readRows([key], [{ family: 'v' }])).get(key)?.cells.v ?? []).map(({ value }) =>
    Buffer.from(value).toString(),
  )

async function callsOf(method: FakeMethod, work: () => Promise<unknown>): Promise<number> {
  const before = fake.counts[method].calls
  await work()
  return fake.counts[method].calls - before
}

test('reads with one wish are one call, in which each key stands once; another wish is another call', async () => {
  await rows.mutateRows([{ key: 'a', changes: [set(1n, 'x')] }])
  const before = fake.counts.ReadRows.rows
  const newest = [{ family: 'v', newest: 1 }] as const
  const calls = await callsOf('ReadRows', async () => {
    const found = await Promise.all(['a', 'b', 'a'].map((key) => rows.readRows([key], newest)))
    expect(found.map((one) => [...one.keys()])).toEqual([['a'], [], ['a']])
  })
  expect([calls, fake.counts.ReadRows.rows - before]).toEqual([1, 2])
  const two = () => Promise.all([rows.readRows(['a'], newest), rows.readRows(['a'], [{ family: 'h' }])])
  expect(await callsOf('ReadRows', two)).toBe(2)
})

test('the answers of one call reach its readers in several turns, so that others do not wait for all of them', async () => {
  await rows.mutateRows([{ key: 'a', changes: [set(1n, 'x')] }])
  let inTurn = 0
  let most = 0
  const read = async (): Promise<number> => {
    const { size } = await rows.readRows(['a'], [{ family: 'v' }])
    if (inTurn++ === 0) {
      setImmediate(() => {
        most = Math.max(most, inTurn)
        inTurn = 0
      })
    }
    return size
  }
  expect(await Promise.all(Array.from({ length: 100 }, read))).toEqual(new Array(100).fill(1))
  await new Promise(setImmediate)
  // The turn in which it counts may be the next one.
  expect(most).toBeLessThanOrEqual(32)
})

test('changes are one call, and those of one row one entry in their order', async () => {
  const before = fake.counts.MutateRows.rows
  const changes = ['1', '2', '3'].map((value) => rows.mutateRows([{ key: 'a', changes: [set(5n, value)] }]))
  const calls = await callsOf('MutateRows', () =>
    Promise.all([...changes, rows.mutateRows([{ key: 'b', changes: [set(5n, 'b')] }])]),
  )
  expect([calls, fake.counts.MutateRows.rows - before]).toEqual([1, 2])
  expect(await valuesOf('a')).toEqual(['3'])
})

test('reads of long keys are calls that a real Bigtable takes, also with those of other callers', async () => {
  const long = Array.from({ length: 150 }, (_, i) => `${i}`.padStart(4_000, 'k'))
  await rows.mutateRows(['short', ...long].map((key) => ({ key, changes: [set(1n, key.slice(-3))] })))
  const read = (keys: readonly string[]) => rows.readRows(keys, [{ family: 'v' }])
  const calls = await callsOf('ReadRows', async () => {
    const found = await Promise.all([read(long), read(['short'])])
    expect(found.map(({ size }) => size)).toEqual([150, 1])
  })
  expect(calls).toBe(3)
})

test('more than a thousand rows, and more than 4 MiB, are several calls', async () => {
  const many = Array.from({ length: 2001 }, (_, i) => ({ key: `k${i}`, changes: [set(1n, 'x')] }))
  expect(await callsOf('MutateRows', () => rows.mutateRows(many))).toBe(3)
  const large = Array.from({ length: 3 }, (_, i) => ({ key: `l${i}`, changes: [set(1n, 'x'.repeat(2.5 * 2 ** 20))] }))
  expect(await callsOf('MutateRows', () => rows.mutateRows(large))).toBe(3)
})

test('more than 100,000 changes are several calls, and of one row they are refused', async () => {
  const many = (count: number) =>
    Array.from({ length: count }, () => ({ type: 'delete', family: 'v', until: 1n }) as const)
  const change = (...counts: readonly number[]) =>
    rows.mutateRows(counts.map((count, i) => ({ key: `m${i}`, changes: many(count) })))
  expect(await callsOf('MutateRows', () => change(60_000, 60_000))).toBe(2)
  await expect(change(100_001)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: /100000/ })
})

test('a call fails by its own rows alone', async () => {
  const table = [...fake.tables].at(-1)?.[1] as unknown as { families: Map<string, unknown> }
  table.families.delete('p')
  const wrong = rows.mutateRows([{ key: 'a', changes: [{ ...set(1n, 'x'), family: 'p' }] }])
  const right = rows.mutateRows([{ key: 'b', changes: [set(1n, 'x')] }])
  await expect(wrong).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  await right
  expect(await valuesOf('b')).toEqual(['x'])
})

test('a change above a limit is refused before anything is sent', async () => {
  const large = [{ ...set(1n, ''), value: Buffer.alloc(100 * 2 ** 20 + 1) }]
  const calls = await callsOf('MutateRows', async () => {
    await expect(rows.mutateRows([{ key: 'a', changes: large }])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await expect(rows.mutateRows([{ key: '', changes: [set(1n, 'x')] }])).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  })
  expect(calls).toBe(0)
  await expect(rows.mutateRowIf('a', newestIs('v', undefined), large)).rejects.toThrow(/104857600/)
})

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const child = (i: number): Key => ({
  partition,
  path: [
    { kind: 'G', name: 'a' },
    { kind: 'K', id: BigInt(i + 1) },
  ],
})
const lone = (i: number): Key => ({ partition, path: [{ kind: 'K', id: BigInt(i + 1) }] })
const upserts = (keyOf: (i: number) => Key) =>
  Array.from(
    { length: 100 },
    (_, i) => ({ operation: 'upsert', entity: entity(keyOf(i), property('a', integer(i))) }) as const,
  )

test.each([
  ['several groups', lone],
  ['one group', child],
])('a transaction looks up a hundred entities of %s in a few calls, and so its commit', async (_, keyOf) => {
  const engine = await openEngine({ store: severalGateways({ rows, gateway: 1 }) })
  const database = engine.database('p')
  await database.commit(engine.context(), { mode: 'nonTransactional', mutations: upserts(keyOf) })
  const transaction = await database.beginTransaction(engine.context(), { mode: 'readWrite' })
  const keys = Array.from({ length: 100 }, (_, i) => keyOf(i))
  const looked = await callsOf('ReadRows', async () =>
    database.lookup(engine.context(), { keys, read: { transaction } }),
  )
  expect(looked).toBeLessThan(10)
  const committed = await callsOf('ReadRows', async () =>
    database.commit(engine.context(), { mode: 'transactional', transaction, mutations: upserts(keyOf) }),
  )
  expect(committed).toBeLessThan(10)
  await engine.close()
})

test('a check reads the index rows of many entities in a call', async () => {
  const engine = await openEngine({ store: severalGateways({ rows, gateway: 1 }) })
  const database = engine.database('p')
  await database.commit(engine.context(), { mode: 'nonTransactional', mutations: upserts(lone) })
  const calls = await callsOf('ReadRows', async () => {
    expect(await engine.check()).toMatchObject({ entities: 100, problems: [] })
  })
  expect(calls).toBeLessThan(40)
  await engine.close()
})
