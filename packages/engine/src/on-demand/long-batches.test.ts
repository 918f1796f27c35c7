/** Long batches of a store in memory: written in slices, and found by readers whole or not at all. */
import { afterEach, expect, test, vi } from 'vitest'
import type { Mutation } from '../database/api.ts'
import { firstIndexOptions } from '../database/database-row.ts'
import { encodeKey, encodeProperties } from '../encoding/entity-codec.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import type { Key } from '../model/key.ts'
import type { Value } from '../model/value.ts'
import { sliceWorkMax } from '../slices.ts'
import { MemoryKv, type MemorySnapshot } from '../storage/memory-kv.ts'
import { RowProducer } from '../tables/entity-rows.ts'
import { rowsOf } from '../tables/rows.ts'
import { index, query } from '../testing/query-world.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { OnDemandRows } from './on-demand-rows.ts'

/** A clock that stands still, so that slices end by their work, and reports each turn. */
class TurnClock extends VirtualClock {
  onTurn: () => void = () => {}

  override defer(task: () => void): void {
    super.defer(() => {
      this.onTurn()
      task()
    })
  }
}

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const keyOf = (id: number): Key => ({ partition, path: [{ kind: 'A', id: BigInt(id) }] })
const integer = (value: number): Value => ({ type: 'integer', value: BigInt(value) })

function upsert(id: number, x: Value, kind = 'A') {
  const key = encodeKey({ partition, path: [{ kind, id: BigInt(id) }] })
  const entity = Buffer.concat([Buffer.from([0x0a, key.length]), key, encodeProperties(new Map([['x', x]]))])
  return { operation: 'upsert', entity } as const
}

let engine: Engine
afterEach(() => engine.close())

const count = 3_000
const commit = (mutations: readonly Mutation[]) =>
  engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
const commitOf = (x: (id: number) => Value, entities: number) =>
  commit(Array.from({ length: entities }, (_, i) => upsert(i + 1, x(i))))
const found = async (id: number) => {
  const { found, readTime } = await engine.database('p').lookup(engine.context(), { keys: [keyOf(id)] })
  return { is: found.length === 1, readTime }
}
const inOrder = async () => {
  const page = await engine.database('p').runQuery(engine.context(), { query: query({ kind: 'A', order: ['x desc'] }) })
  return page.results.length
}

const list = (values: number) => (): Value => ({
  type: 'array',
  values: Array.from({ length: values }, (_, i) => integer(i)),
})

/** Rows of a slice, and those of its last step. */
const writesMax = sliceWorkMax + 2 * 1024

/** The most rows that the store gets in one turn of some work. */
async function mostWritesOf(clock: TurnClock, work: () => unknown, onTurn: () => void = () => {}): Promise<number> {
  const writes = vi.spyOn(MemoryKv.prototype, 'write')
  let most = 0
  const look = (): void => {
    most = Math.max(most, writes.mock.calls.length)
    writes.mockClear()
  }
  clock.onTurn = () => {
    look()
    onTurn()
  }
  await work()
  look()
  writes.mockRestore()
  return most
}

test('a commit of many entities writes some rows in a turn, and lookups meanwhile find all of them or none', async () => {
  const clock = new TurnClock()
  engine = await openEngine({ scheduler: clock })
  const seen: Promise<readonly boolean[]>[] = []
  const look = (): void => {
    if (seen.length < 20) seen.push(Promise.all([found(1), found(count)]).then((both) => both.map(({ is }) => is)))
  }
  expect(await mostWritesOf(clock, () => commitOf(integer, count), look)).toBeLessThanOrEqual(writesMax)
  for (const [first, last] of await Promise.all(seen)) expect(first).toBe(last)
  expect((await found(count)).is).toBe(true)
})

test('an entity with many values writes some rows in a turn, once its property is queried', async () => {
  const clock = new TurnClock()
  engine = await openEngine({ scheduler: clock })
  await commitOf(integer, 1)
  expect(await inOrder()).toBe(1)
  expect(await mostWritesOf(clock, () => commitOf(list(6_000), 1))).toBeLessThanOrEqual(writesMax)
})

test('a new index, and statistics, of entities with many values take some of them in a turn', async () => {
  const clock = new TurnClock()
  engine = await openEngine({ scheduler: clock })
  await commitOf(list(6_000), 8)
  expect(await mostWritesOf(clock, inOrder)).toBeLessThanOrEqual(writesMax)
  let turns = 0
  clock.onTurn = () => {
    turns++
  }
  await engine.database('p').runQuery(engine.context(), { query: query({ kind: '__Stat_Kind__' }) })
  expect(turns).toBeGreaterThan(0)
})

test('a composite index gets the rows of one entity in a turn if it has many values', async () => {
  const clock = new TurnClock()
  engine = await openEngine({ scheduler: clock })
  await commitOf(list(3_000), 8)
  const made = vi.spyOn(RowProducer.prototype, 'indexRows')
  const entities: number[] = []
  clock.onTurn = () => {
    // Observers make rows in parts.
    entities.push(made.mock.calls.filter(([, , to]) => to === undefined).length)
    made.mockClear()
  }
  await engine.createIndex(engine.database('p'), index('A(ancestor, x)'))
  made.mockRestore()
  expect(entities.filter((count) => count > 0)).toEqual(Array.from({ length: 8 }, () => 1))
})

test.each([
  ['the rows of all tablets are counted', () => engine.tablets.counted()],
  ['the store is checked', () => engine.check()],
] as const)('while %s, an entity with many values has some of its rows made in a step', async (_, work) => {
  engine = await openEngine({ scheduler: new TurnClock() })
  await commitOf(list(6_000), 2)
  const made = vi.spyOn(RowProducer.prototype, 'indexRows')
  await work()
  const places = made.mock.calls.map(([, from = 0, to = Number.POSITIVE_INFINITY]) => to - from)
  made.mockRestore()
  expect(Math.max(...places)).toBeLessThanOrEqual(1024)
  expect(places.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(2 * 6_000)
})

test.each([
  ['has other values', () => commitOf(list(5_500), 1)],
  ['has one value', () => commitOf(integer, 1)],
  ['is deleted', () => commit([{ operation: 'delete', key: keyOf(1) }])],
] as const)('an entity that %s between two parts of its rows has those of its new state', async (_, change) => {
  const clock = new TurnClock()
  engine = await openEngine({ scheduler: clock })
  await commitOf(list(5_000), 2)
  let turns = 0
  clock.onTurn = () => {
    if (++turns === 1) void change()
  }
  await inOrder()
  expect(turns).toBeGreaterThan(1)
  const { problems, indexRows } = await engine.check()
  expect(problems).toEqual([])
  expect(indexRows).toBeGreaterThanOrEqual(10_000)
})

test('an entity with many rows of a composite index writes some rows in a turn', async () => {
  const clock = new TurnClock()
  engine = await openEngine({ scheduler: clock })
  await engine.createIndex(engine.database('p'), index('A(x, __key__ desc)'))
  expect(await mostWritesOf(clock, () => commitOf(list(10_000), 1))).toBeLessThanOrEqual(writesMax)
})

test('a query that needs a new index, commits and a snapshot beside a long batch keep their order', async () => {
  const clock = new TurnClock()
  engine = await openEngine({ scheduler: clock })
  await commitOf(integer, 1_000)
  const copies = vi.spyOn(MemoryKv.prototype, 'copy')
  let beside: readonly unknown[] = []
  clock.onTurn = () => {
    if (copies.mock.calls.length === 0 || beside.length > 0) return
    beside = [inOrder(), commitOf((i) => integer(i + 7), 3), engine.snapshot()]
  }
  const early = inOrder()
  await commitOf((i) => integer(i + 1), count)
  expect(beside).toHaveLength(3)
  await Promise.all([...beside, early])
  const database = engine.database('p')
  const last = query({ kind: 'A', order: ['x desc'], limit: 1 })
  const [highest] = (await database.runQuery(engine.context(), { query: last })).results
  expect(highest?.key).toEqual(keyOf(count))
  const { found: first } = await database.lookup(engine.context(), { keys: [keyOf(1)] })
  expect(Buffer.from(first[0]?.image?.properties ?? []).equals(encodeProperties(new Map([['x', integer(7)]])))).toBe(
    true,
  )
  expect(await engine.check()).toMatchObject({})
})

test('two scans of one snapshot, that wait for the same rows, both get them', async () => {
  const scheduler = new VirtualClock()
  const kv = new OnDemandRows(new MemoryKv(), () => firstIndexOptions.firestore, scheduler)
  engine = await openEngine({ kv, scheduler })
  await commitOf(integer, count)
  const snapshot = kv.snapshot()
  const all = { start: '', end: '\xff' }
  const scans = [snapshot.scan(all), snapshot.scan(all, { reverse: true })]
  const rows = await Promise.all(scans.map((scan) => scan.next(50_000)))
  expect(rows[0]?.length).toBeGreaterThan(4 * count)
  expect(rows[1]?.map(({ key }) => key).reverse()).toEqual(rows[0]?.map(({ key }) => key))
  snapshot.close()
})

test('a snapshot that is closed while its rows are made leaves no state of the store open', async () => {
  const scheduler = new VirtualClock()
  const kv = new OnDemandRows(new MemoryKv(), () => firstIndexOptions.firestore, scheduler)
  engine = await openEngine({ kv, scheduler })
  await commitOf(integer, count)
  const opened = vi.spyOn(MemoryKv.prototype, 'snapshot')
  const snapshot = kv.snapshot()
  const read = snapshot.scan({ start: '', end: '\xff' }).next(1)
  snapshot.close()
  await expect(read).rejects.toThrow('closed')
  const left = opened.mock.results.map(({ value }) => value as MemorySnapshot)
  opened.mockRestore()
  expect(left.length).toBeGreaterThan(0)
  for (const one of left) expect(() => one.get('E')).toThrow('closed')
})

test('a scan of a whole table makes the rows of some kinds in a turn', async () => {
  const clock = new TurnClock()
  const kinds = 1_200
  const rows = new OnDemandRows(new MemoryKv(), () => firstIndexOptions.firestore, clock)
  engine = await openEngine({ kv: rows, scheduler: clock })
  const mutations = Array.from({ length: kinds }, (_, i) => upsert(1, integer(i), `K${i}`))
  await commit(mutations)
  const most = await mostWritesOf(clock, () => rows.prepare(rowsOf('EntitiesByPropertyAsc')))
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThanOrEqual(kinds / 2)
})
