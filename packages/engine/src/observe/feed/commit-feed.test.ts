import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { mutationOf } from '../../../test/property/log-world.ts'
import { type Engine, openEngine } from '../../engine/engine.ts'
import type { Key } from '../../model/key.ts'
import { sliceWorkMax } from '../../slices.ts'
import { MemoryKv } from '../../storage/memory-kv.ts'
import { AsyncKv } from '../../testing/async-kv.ts'
import { index } from '../../testing/query-world.ts'
import { turnScheduler } from '../../testing/turn-scheduler.ts'
import { VirtualClock } from '../../testing/virtual-clock.ts'
import { type CommitFilter, type CommitWatcher, ListedRows } from './commit-feed.ts'
import type { StoreEvent } from './feed-reports.ts'

let engine: Engine

afterEach(async () => {
  vi.restoreAllMocks()
  await engine.close()
})

function keyOf(kind: string, id: number, namespaceId = ''): Key {
  const path = [
    { kind: 'Root', name: `r${id % 3}` },
    { kind, id: BigInt(id) },
  ]
  return { partition: { projectId: 'p', databaseId: '', namespaceId }, path }
}

async function write(...values: readonly (readonly [Key, number | undefined])[]): Promise<void> {
  const mutations = values.map(([key, value]) => mutationOf(key, value))
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
}

const withRoom = (tell: (event: StoreEvent) => void): CommitWatcher => ({ tell, takes: () => true, miss: never })

function eventsOf(which: CommitFilter & { readonly listed?: number } = {}): StoreEvent[] {
  const events: StoreEvent[] = []
  engine.feed.watch(
    { listed: 1000, rows: 1000, ...which },
    withRoom((event) => void events.push(event)),
  )
  return events
}

const tables = [
  'Entities',
  'EntitiesByKind',
  'EntitiesByPropertyAsc',
  'EntitiesByPropertyDesc',
  'EntitiesByCompositeProperty',
  'Log',
] as const

describe.each([
  ['in memory, with rows on demand', () => ({})],
  ['that answers by promise', () => ({ kv: new AsyncKv(new MemoryKv()) })],
])('a store %s', (_store, optionsOf) => {
  test('commits though a watcher throws, and reports that', async () => {
    const failures: unknown[] = []
    const onBackgroundFailure = (error: unknown): unknown => failures.push(error)
    engine = await openEngine({ ...optionsOf(), scheduler: new VirtualClock(), onBackgroundFailure })
    const broken = new Error('a broken watcher')
    const tell = (): never => {
      throw broken
    }
    engine.feed.watch({ listed: 10, rows: 10 }, withRoom(tell))
    await write([keyOf('A', 1), 7])
    engine.database('p').configure({ applyPolicy: { type: 'manual' } })
    await write([keyOf('A', 1), 8])
    await engine.inspector.releaseAll()
    // Told of each commit and each apply, and committed once each.
    expect(failures).toEqual([broken, broken, broken, broken])
    expect((await engine.inspector.versions(keyOf('A', 1))).versions).toHaveLength(2)
    expect((await engine.check()).problemCount).toBe(0)
  })

  test.each(['immediate', 'manual'] as const)(
    'tells exactly the rows that it writes, with the policy %s',
    async (type) => {
      engine = await openEngine({ ...optionsOf(), scheduler: new VirtualClock(), apply: { type } })
      await engine.createIndex(engine.database('p'), index('A(parity, list)'))
      const events = eventsOf()
      await write(...[1, 2, 3, 4, 5].map((id) => [keyOf('A', id), id] as const))
      await write([keyOf('A', 1), 7], [keyOf('A', 2), undefined], [keyOf('B', 9), 9])
      await write([keyOf('A', 2), 8], [keyOf('A', 3), 4], [keyOf('A', 4), undefined])
      await engine.inspector.releaseAll()

      const rows = new Map<string, string>()
      for (const event of events) {
        const step = 'commit' in event ? event.commit : 'apply' in event ? event.apply : undefined
        const counted = Object.values(step?.tables ?? {}).reduce(
          (sum, { written, deleted }) => sum + written + deleted,
          0,
        )
        expect(step?.rows).toHaveLength(counted)
        for (const { table, rowKey, deleted } of step?.rows ?? []) {
          if (deleted) expect(rows.delete(rowKey)).toBe(true)
          else rows.set(rowKey, table)
        }
      }
      for (const table of tables) {
        const stored = (await engine.inspector.table(table, { limit: 1000 })).rows.map(({ rowKey }) => rowKey)
        const told = [...rows].filter(([, its]) => its === table).map(([rowKey]) => rowKey)
        expect([table, told.sort()]).toEqual([table, stored])
        expect(stored.length).toBeGreaterThan(0)
      }
    },
  )
})

test('commit-feed/CF1: without a watcher nothing is made, and commit-feed/CF2: a large commit is summarised', async () => {
  engine = await openEngine()
  let made = 0
  const tell = (event: StoreEvent): void => {
    made++
    const { rows, moreRows = 0, tables } = 'commit' in event ? event.commit : 'apply' in event ? event.apply : never()
    const counted = Object.values(tables).reduce((sum, { written, deleted }) => sum + written + deleted, 0)
    expect(rows.length).toBe(Math.min(4, counted))
    expect(rows.length + moreRows).toBe(counted)
    if ('commit' in event) expect([event.commit.changes.length, event.commit.moreChanges]).toEqual([5, 295])
    if ('apply' in event && event.apply.milestone === 'B') {
      expect(tables.EntitiesByKind).toEqual({ written: 300, deleted: 0 })
      expect(moreRows).toBeGreaterThan(2000)
    }
  }
  const stop = engine.feed.watch({ listed: 5, rows: 4 }, withRoom(tell))
  const many = Array.from({ length: 300 }, (_, i) => [keyOf('A', i + 1), i] as const)
  await write(...many)
  expect(made).toBe(3)
  stop()
  await write(...many)
  expect(made).toBe(3)
})

test('a large event is made in slices, and all events come in order, also those of commits meanwhile', async () => {
  engine = await openEngine({ scheduler: turnScheduler(() => {}) })
  const written = vi.spyOn(ListedRows.prototype, 'write')
  const events = eventsOf()
  let isDone = false
  const rounds = [1, 2, 3, 4].map((round) =>
    write(...Array.from({ length: 300 }, (_, i) => [keyOf('A', i + 1), round * 1000 + i] as const)),
  )
  const done = Promise.all(rounds).finally(() => {
    isDone = true
  })
  for (let before = 0; !isDone; before = written.mock.calls.length) {
    await nextTurn()
    // Making the words of a row takes as long as reading sixteen.
    const made = written.mock.calls.length - before
    if (made * 16 > 2 * sliceWorkMax) expect.fail(`one turn made the words of ${made} rows`)
  }
  await done
  engine.feed.reload({ reason: 'repair' })
  const told = events.map((event) => {
    if ('commit' in event) return { version: event.commit.version, step: 'commit', rows: event.commit.tables.Log }
    if ('apply' in event) return { version: event.apply.version, step: event.apply.milestone }
    return { step: event.reload.reason }
  })
  const versions = [...new Set(told.flatMap(({ version }) => version ?? []))]
  expect(versions).toHaveLength(4)
  expect(versions).toEqual([...versions].sort())
  expect(told).toEqual([
    ...versions.flatMap((version) => [
      { version, step: 'commit', rows: { written: 3, deleted: 0 } },
      { version, step: 'A' },
      { version, step: 'B' },
    ]),
    { step: 'repair' },
  ])
})

test('a watcher that begins while an event is made is told of later ones alone', async () => {
  engine = await openEngine({ scheduler: turnScheduler(() => {}) })
  const early = eventsOf()
  const written = write(...Array.from({ length: 300 }, (_, i) => [keyOf('A', i + 1), i] as const))
  while (early.length === 0) await nextTurn()
  const late = eventsOf()
  await written
  await write([keyOf('A', 1), 1])
  expect([early.length, late.length]).toEqual([6, 3])
})

function never(): never {
  throw new Error('neither a commit nor an apply')
}

test.each<[string, CommitFilter, readonly string[]]>([
  ['a kind', { kind: 'B' }, ['Root:"r2"/B:2']],
  ['a namespace', { projectId: 'p', databaseId: '', namespaceId: 'n' }, ['Root:"r0"/A:3']],
  ['an entity and its descendants', { path: [{ kind: 'Root', name: 'r1' }] }, ['Root:"r1"/A:1', 'Root:"r1"/A:4']],
  ['another project', { projectId: 'q' }, []],
])('a watcher of %s is told of it alone', async (_what, which, keys) => {
  engine = await openEngine({ apply: { type: 'manual' } })
  const events = eventsOf(which)
  await write([keyOf('A', 1), 1], [keyOf('B', 2), 2], [keyOf('A', 3, 'n'), 3], [keyOf('A', 4), 4])
  await engine.inspector.releaseAll()
  const told = events.flatMap((event) => ('commit' in event ? event.commit.changes.map(({ key }) => key) : []))
  expect(told).toEqual(keys)
  const entityRows = events.flatMap((event) =>
    'apply' in event && event.apply.milestone === 'A' ? event.apply.rows.map(({ row }) => row) : [],
  )
  expect(entityRows).toHaveLength(keys.length)
  for (const key of keys) expect(entityRows.some((row) => row.includes(key))).toBe(true)
})

test('watchers of the same are given one event', async () => {
  engine = await openEngine()
  const ofA: CommitFilter = { kind: 'A', path: [{ kind: 'Root', name: 'r1' }] }
  const [first, second, others] = [eventsOf(ofA), eventsOf(ofA), eventsOf()]
  let passed = 0
  engine.feed.watch(
    { listed: 1000, rows: 1000, ...ofA },
    withRoom(() => void passed++),
  )
  await write([keyOf('A', 1), 1])
  expect(first).toHaveLength(3)
  expect(second.every((event, i) => event === first[i])).toBe(true)
  expect(others.some((event) => first.includes(event))).toBe(false)
  expect(passed).toBe(3)
})

test('an event that no watcher has room for is not made, and all are told that they missed it', async () => {
  engine = await openEngine()
  const written = vi.spyOn(ListedRows.prototype, 'write')
  const full = { told: 0, missed: 0 }
  const other = { told: 0, missed: 0 }
  let hasRoom = false
  const watch = (counts: typeof full, takes: () => boolean) =>
    engine.feed.watch(
      { listed: 10, rows: 10 },
      { tell: () => void counts.told++, takes, miss: () => void counts.missed++ },
    )
  watch(full, () => false)
  watch(other, () => hasRoom)
  await write([keyOf('A', 1), 1])
  expect([full, other, written.mock.calls.length]).toEqual([{ told: 0, missed: 3 }, { told: 0, missed: 3 }, 0])
  hasRoom = true
  await write([keyOf('A', 1), 2])
  expect([full, other]).toEqual([
    { told: 3, missed: 3 },
    { told: 3, missed: 3 },
  ])
  expect(written).toHaveBeenCalled()
})

test('a watcher that ends leaves those of the same', async () => {
  engine = await openEngine()
  let told = 0
  const stop = engine.feed.watch(
    { listed: 1, rows: 1 },
    withRoom(() => void told++),
  )
  const events = eventsOf({ listed: 1 })
  const same = engine.feed.watch(
    { listed: 1, rows: 1 },
    withRoom(() => void told++),
  )
  same()
  await write([keyOf('A', 1), 1])
  expect(told).toBe(events.length)
  stop()
  await write([keyOf('A', 1), 2])
  expect(told * 2).toBe(events.length)
})

test('an index, a reset and a restore ask to read anew, those in another project do not', async () => {
  engine = await openEngine()
  const [all, elsewhere] = [eventsOf(), eventsOf({ projectId: 'q' })]
  await write([keyOf('A', 1), 1])
  const snapshot = await engine.snapshot()
  await engine.createIndex(engine.database('p'), index('A(parity, v)'))
  await engine.reset({ projectId: 'p', databaseId: '', namespaceId: '' })
  await engine.restore(snapshot)
  const reloads = (events: StoreEvent[]): unknown[] => events.flatMap((one) => ('reload' in one ? [one.reload] : []))
  expect(reloads(all)).toEqual([
    { reason: 'indexes' },
    { reason: 'reset', project: 'p', database: '', namespace: '' },
    { reason: 'restore' },
  ])
  expect(reloads(elsewhere)).toEqual([{ reason: 'indexes' }, { reason: 'restore' }])
})
