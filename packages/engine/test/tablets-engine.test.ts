/** The tablets under a whole engine: what requests charge, and what a simulation does to them. */
import { afterEach, expect, test, vi } from 'vitest'
import type { RequestContext } from '../src/context.ts'
import { type Engine, openEngine } from '../src/engine/engine.ts'
import type { EngineOptions } from '../src/engine/engine-options.ts'
import type { SampleEvent } from '../src/observe/tablets/metering.ts'
import { Tablet } from '../src/observe/tablets/tablet.ts'
import { query } from '../src/testing/query-world.ts'
import { VirtualClock } from '../src/testing/virtual-clock.ts'
import { entity, integer, keyOf, property } from './property/entity-messages.ts'

let engine: Engine
let clock: VirtualClock

async function open(tablets: EngineOptions['tablets'], options: EngineOptions = {}): Promise<void> {
  clock = new VirtualClock()
  engine = await openEngine({ scheduler: clock, ...options, ...(tablets === undefined ? {} : { tablets }) })
}

afterEach(() => engine.close())

const toDo = (id: number) => keyOf([{ kind: 'ToDo', id: BigInt(id) }])

const upsert = (id: number, value = id) =>
  ({ operation: 'upsert', entity: entity(toDo(id), property('v', integer(value))) }) as const

async function put(id: number, context: RequestContext = engine.context(), value = id): Promise<void> {
  await engine.database('p').commit(context, { mode: 'nonTransactional', mutations: [upsert(id, value)] })
}

async function remove(id: number): Promise<void> {
  const mutations = [{ operation: 'delete', key: toDo(id) } as const]
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
}

const rowsOf = () => Object.fromEntries(engine.tablets.report().tables.map(({ table, rows }) => [table, rows]))
const one = { Entities: 1, EntitiesByKind: 1, EntitiesByPropertyAsc: 1, EntitiesByPropertyDesc: 1, Log: 1, Metadata: 2 }

test('a put charges a log row, an entity row and its index rows', async () => {
  await open({ simulate: true, waits: false })
  const samples: SampleEvent[] = []
  engine.tablets.onSample((sample) => samples.push(sample))
  await put(1)
  expect(samples.map(({ table, operation }) => `${operation} ${table}`)).toEqual([
    'get Entities',
    'put Log',
    'put Entities',
    'put EntitiesByKind',
    'put EntitiesByPropertyAsc',
    'put EntitiesByPropertyDesc',
  ])
})

test('rows are counted exactly, through updates and deletes, whenever the first report is read', async () => {
  await open(undefined)
  await put(1)
  expect(rowsOf()).toEqual(one)
  await put(1, engine.context(), 7)
  expect(rowsOf()).toEqual({ ...one, Log: 2 })
  await put(2)
  await remove(1)
  expect(rowsOf()).toEqual({ ...one, Log: 4 })
  engine.tablets.rows.recount()
  expect(rowsOf()).toEqual({ ...one, Log: 4 })
})

test('deleted rows cost the scans over them until a major compaction', async () => {
  await open({ simulate: true, waits: false })
  for (let id = 1; id <= 20; id++) await put(id)
  for (let id = 1; id <= 15; id++) await remove(id)
  const reads = async (): Promise<number> => {
    const before = engine.tablets.charged
    await engine.database('p').runQuery(engine.context(), { query: query({ kind: 'ToDo', projection: ['__key__'] }) })
    return engine.tablets.charged - before
  }
  const over = await reads()
  const kinds = engine.tablets.report().tables.find(({ table }) => table === 'EntitiesByKind')
  expect(kinds).toMatchObject({ rows: 5, tombstones: 15 })
  engine.tablets.compact('EntitiesByKind')
  expect(over - (await reads())).toBe(15)
  expect(engine.tablets.events().map(({ kind, table }) => `${kind} ${table}`)).toEqual(['compaction EntitiesByKind'])
})

test('queries over deleted rows are a finding of the table that they read, which ends when queries begin behind them', async () => {
  await open({ simulate: true, waits: false, compactAfterMs: 1e9, compactTombstonesMin: 1e9 })
  engine.tablets.report()
  for (let id = 1; id <= 400; id++) await put(id)
  for (let id = 1; id <= 390; id++) await remove(id)
  const behind = { type: 'property', property: '__key__', operator: 'greaterThan' } as const
  const page = (from?: number) =>
    engine.database('p').runQuery(engine.context(), {
      query: query({
        kind: 'ToDo',
        projection: ['__key__'],
        limit: 5,
        ...(from === undefined ? {} : { filter: { ...behind, value: { type: 'key', key: toDo(from) } } }),
      }),
    })
  const found = () => engine.findings().filter(({ kind }) => kind === 'scan-over-tombstones')
  await page(390)
  expect(found()).toEqual([])
  await page()
  expect(found().map(({ subject }) => subject)).toEqual(['EntitiesByKind from its start to its end'])
  expect(found()[0]?.evidence).toEqual(['the latest went over 390 deleted rows for 6 that it found (98 %)'])
  for (let minute = 0; minute < 31; minute++) {
    await clock.advance(60_000)
    await page(390)
    engine.findings()
  }
  expect(found()).toEqual([])
  expect(found()).toEqual([])
  await page()
  expect(found()).toHaveLength(1)
})

test('a weight enters as a flow over its time, and all of it arrives', async () => {
  await open({ simulate: true, waits: false, splitOpsPerSecond: 1e9 })
  await put(1, engine.context({ weight: 10_000, spreadMs: 10_000 }))
  expect(engine.tablets.charged).toBe(0)
  await clock.advance(5_000)
  expect(engine.tablets.charged).toBeCloseTo(30_000, -3)
  await clock.advance(5_200)
  expect(engine.tablets.charged).toBeCloseTo(60_000, 3)
})

test('with simulation off too, few operations are charged one by one, and many by a sample that stands for all', async () => {
  await open({ exactPerSecond: 1e9 })
  for (let id = 1; id <= 2_000; id++) await put(id)
  const all = engine.tablets.charged
  await engine.close()
  await open(undefined)
  const heard: SampleEvent[] = []
  engine.tablets.onSample((sample) => heard.push(sample))
  for (let id = 1; id <= 20; id++) await put(id)
  expect(engine.tablets.charged).toBe(20 * 6)
  expect(new Set(heard.map(({ weight }) => weight))).toEqual(new Set([1]))
  const { requests, tables } = engine.tablets.report()
  expect(requests.perSecond).toBe(20)
  expect(tables.find(({ table }) => table === 'Entities')).toMatchObject({ readsPerSecond: 20, writesPerSecond: 20 })

  for (let id = 21; id <= 2_000; id++) await put(id)
  expect(heard.length).toBeLessThan(1_000 + (11_000 / 64) * 1.5)
  // All but those behind the last sample.
  expect(all - engine.tablets.charged).toBeLessThan(128)
  expect(engine.tablets.charged).toBeLessThanOrEqual(all)

  const busy = engine.tablets.charged
  await clock.advance(1_000)
  await put(2_001)
  expect(engine.tablets.charged - busy).toBe(6)
})

test.each([1, 25, 500])('a sample of commits of %i stands for all of them', async (size) => {
  await open(undefined)
  const entities = 4_000
  for (let from = 1; from <= entities; from += size) {
    const mutations = Array.from({ length: size }, (_, i) => upsert(from + i))
    await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
  }
  // A read, a log row, and four rows of its own for each entity: from some 190 samples of 1 or 4 rows, so three deviations are 15 %.
  expect(Math.abs(engine.tablets.charged / (entities * 6) - 1)).toBeLessThan(0.15)
})

test('a store that nothing was asked of has no load, and looking at it makes none', async () => {
  await open(undefined)
  for (let id = 1; id <= 20; id++) await put(id)
  await clock.advance(60_000)
  for (let look = 0; look < 3; look++) {
    const { tables, requests } = engine.tablets.report()
    expect(tables.map((one) => one.readsPerSecond + one.writesPerSecond)).toEqual(tables.map(() => 0))
    expect(requests.perSecond).toBe(0)
    engine.findings()
    await engine.inspector.table('Entities', { limit: 5 })
  }
  expect(engine.tablets.charged).toBe(20 * 6)
})

test('a server over its capacity makes requests wait, then refuses them before anything is written', async () => {
  await open({ simulate: true, waits: false, servers: 1, opsPerSecond: 100, queueMsMax: 1_000 })
  let written = 0
  const refusals: string[] = []
  for (let id = 1; id <= 40; id++) {
    try {
      await put(id)
      written++
    } catch (error) {
      refusals.push((error as { code: string }).code)
    }
  }
  expect(new Set(refusals)).toEqual(new Set(['RESOURCE_EXHAUSTED']))
  expect(written).toBeGreaterThan(10)
  expect(rowsOf()['Entities']).toBe(written)
  const { servers, requests } = engine.tablets.report()
  expect(servers[0]?.queueMs).toBeGreaterThan(900)
  expect(requests.rejectedPerSecond).toBe(refusals.length)
  await clock.advance(2_000)
  await put(99)
})

test('a tablet that moves fails requests at once, and nothing is written', async () => {
  await open({ simulate: true, waits: false })
  await put(1)
  const tablet = engine.tablets.report().tablets.find(({ table }) => table === 'EntitiesByKind')
  engine.tablets.move(tablet?.id ?? 0, 7)
  await expect(put(2)).rejects.toMatchObject({ code: 'UNAVAILABLE', committed: 'no' })
  await clock.advance(2_000)
  expect(rowsOf()['Entities']).toBe(1)
  await put(2)
  expect(rowsOf()['Entities']).toBe(2)
})

test('a wait beyond the deadline ends at the deadline, and nothing is written', async () => {
  await open({ simulate: true, waits: false, servers: 1, opsPerSecond: 100 })
  for (let id = 1; id <= 10; id++) await put(id)
  const context = engine.context({ deadlineAt: clock.steadyMs() + 50 })
  await expect(put(11, context)).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' })
  expect(rowsOf()['Entities']).toBe(10)
})

test('a split by hand keeps the rows of either side, and a reset begins anew', async () => {
  await open(undefined)
  for (let id = 1; id <= 10; id++) await put(id)
  const row = await engine.inspector.table('Entities', { limit: 5 })
  const hex = row.rows[4]?.rowKey ?? ''
  expect(hex).not.toBe('')
  engine.tablets.report()
  engine.tablets.split('Entities', Buffer.from(hex.replaceAll(' ', ''), 'hex').toString('latin1'))
  const halves = engine.tablets.report().tablets.filter(({ table }) => table === 'Entities')
  expect(halves.map(({ rows }) => rows)).toEqual([4, 6])
  expect(halves[0]?.end).toBe('Entities › p › ToDo:5')
  await engine.reset()
  expect(engine.tablets.report().tablets.every(({ rows }) => rows === 0)).toBe(true)
  engine.tablets.check()
})

test('rows of an index that is built, and of one that is dropped, are counted', async () => {
  await open(undefined)
  for (let id = 1; id <= 10; id++) await put(id)
  engine.tablets.report()
  const database = engine.database('p')
  const properties = [
    { name: 'v', direction: 'ascending' },
    { name: '__key__', direction: 'descending' },
  ] as const
  await engine.createIndex(database, { kind: 'ToDo', ancestor: false, properties })
  expect(rowsOf()['EntitiesByCompositeProperty']).toBe(10)
  await remove(1)
  expect(rowsOf()['EntitiesByCompositeProperty']).toBe(9)
})

test('going back to a snapshot begins the tablets anew, with the rows of then', async () => {
  await open(undefined)
  await put(1)
  engine.tablets.report()
  const snapshot = await engine.snapshot()
  await put(2)
  expect(rowsOf()['Entities']).toBe(2)
  await engine.restore(snapshot)
  expect(rowsOf()['Entities']).toBe(1)
  snapshot.close()
})

test('simulated, each operation is charged once: what listeners hear is what tablets have', async () => {
  await open({ simulate: true, waits: false })
  let heard = 0
  engine.tablets.onSample(({ rows, weight }) => {
    heard += rows * weight
  })
  for (let id = 1; id <= 40; id++) await put(1 + ((id * 7) % 11))
  for (let id = 1; id <= 5; id++) await engine.database('p').lookup(engine.context(), { keys: [toDo(id)] })
  await engine.database('p').runQuery(engine.context(), { query: query({ kind: 'ToDo' }) })
  const sum = engine.tablets.all().reduce((total, tablet) => total + tablet.total, 0)
  expect(engine.tablets.charged).toBe(heard)
  expect(sum).toBe(heard)
})

test('findings look at the load of no tablet, however many there are', async () => {
  await open(undefined)
  for (let i = 0; i < 50; i++) engine.tablets.split('Entities', `Ep${String.fromCharCode(i + 1)}`)
  const rates = vi.spyOn(Tablet.prototype, 'load')
  expect(engine.findings()).toEqual([])
  expect(rates).not.toHaveBeenCalled()
  expect(engine.tablets.report().tablets.length).toBeGreaterThan(50)
  expect(rates.mock.calls.length).toBeGreaterThan(50)
  rates.mockRestore()
})

test('policies of a caller decide about splits, merges and places', async () => {
  const asked = new Set<string>()
  const note =
    <T>(name: string, answer: T) =>
    (): T => {
      asked.add(name)
      return answer
    }
  const policies = {
    split: { decide: note('split', { at: 'E', reason: 'load', words: 'a test asks for it' } as const) },
    merge: { decide: note('merge', false) },
    placement: { place: note('place', 2), balance: note('balance', []) },
  }
  await open({ simulate: true, waits: false, policies })
  await put(1)
  await clock.advance(120_000)
  await put(2)
  expect(new Set(engine.tablets.report().tablets.map(({ server }) => server))).toEqual(new Set([2]))
  expect([...asked].sort()).toEqual(['balance', 'merge', 'place', 'split'])
})
