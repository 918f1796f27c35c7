import { beforeEach, describe, expect, test, vi } from 'vitest'
import { mutationOf } from '../../../test/property/log-world.ts'
import { encodeKey, encodeProperties } from '../../encoding/entity-codec.ts'
import { keyCodes } from '../../encoding/key-codec.ts'
import { keySpaces } from '../../encoding/keyspace.ts'
import { type Engine, openEngine } from '../../engine/engine.ts'
import type { IndexDefinition } from '../../model/index-definition.ts'
import { formatKey, type Key } from '../../model/key.ts'
import { sliceWorkMax } from '../../slices.ts'
import type { KeyRange, Kv, KvRow, KvScan, KvSnapshot, ScanOptions } from '../../storage/kv.ts'
import { MemoryKv } from '../../storage/memory-kv.ts'
import { entityRowKey } from '../../tables/entities.ts'
import { AsyncKv } from '../../testing/async-kv.ts'
import { FaultyKv } from '../../testing/faulty-kv.ts'
import { entity, index, query, where } from '../../testing/query-world.ts'
import { VirtualClock } from '../../testing/virtual-clock.ts'

const byParity: IndexDefinition = index('A(parity, v desc)')
const asked = query({ kind: 'A', filter: where('parity', '=', 1n), order: ['v desc'] })

let engine: Engine

function keyOf(id: number, namespaceId = ''): Key {
  return { partition: { projectId: 'p', databaseId: '', namespaceId }, path: [{ kind: 'A', id: BigInt(id) }] }
}

function upsertOf(words: string, plain: Parameters<typeof entity>[1]) {
  const { key, properties } = entity(words, plain)
  const keyBytes = encodeKey(key)
  const bytes = Buffer.concat([Buffer.of(0x0a, keyBytes.length), keyBytes, encodeProperties(properties)])
  return { operation: 'upsert' as const, entity: bytes }
}

async function put(...values: readonly (readonly [Key, number | undefined])[]): Promise<void> {
  const mutations = values.map(([key, value]) => mutationOf(key, value))
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
}

async function found(transaction?: Uint8Array): Promise<readonly string[]> {
  const read = transaction === undefined ? {} : { read: { transaction } }
  const { results } = await engine.database('p').runQuery(engine.context(), { query: asked, ...read })
  return results.map(({ key }) => formatKey(key))
}

async function use(kv: Kv = new MemoryKv()): Promise<void> {
  engine = await openEngine({ kv, scheduler: new VirtualClock() })
}

const states = (): readonly string[] => engine.database('p').catalogue.all.map(({ state }) => state)

describe('an index', () => {
  beforeEach(() => use())

  test('is building, then serving, and gone in the end', async () => {
    await put([keyOf(1), 1], [keyOf(2), 3])
    const database = engine.database('p')
    const building = engine.indexes.create(database, byParity)
    expect((await building.defined).state).toBe('building')
    expect(states()).toEqual(['building'])
    expect(await building.done).toMatchObject({ id: 1n, state: 'serving' })
    expect(await found()).toEqual(['A:2', 'A:1'])
    const dropping = engine.indexes.drop(database, 1n)
    expect((await dropping.defined).state).toBe('deleting')
    await dropping.done
    expect(states()).toEqual([])
    expect((await engine.inspector.table('EntitiesByCompositeProperty')).rows).toEqual([])
    expect(await engine.check()).toMatchObject({ problemCount: 0 })
  })

  test('gives waiting records its rows in slices', async () => {
    const scheduler = new VirtualClock()
    engine = await openEngine({ kv: new MemoryKv(), scheduler, apply: { type: 'manual' } })
    await put(...[...Array(3_000).keys()].map((i): [Key, number] => [keyOf(i + 1), i]))
    const turns = vi.spyOn(scheduler, 'defer')
    await engine.createIndex(engine.database('p'), index('B(parity, v desc)'))
    expect(turns.mock.calls.length).toBeGreaterThan(3_000 / sliceWorkMax)
    turns.mockClear()
    await engine.indexes.drop(engine.database('p'), 1n).defined
    expect(turns.mock.calls.length).toBeGreaterThan(3_000 / sliceWorkMax)
  })

  test('reads a few large entities in a step, whether they get rows or not', async () => {
    const scheduler = new VirtualClock()
    engine = await openEngine({ kv: new MemoryKv(), scheduler })
    const list = [...Array(10_000).keys()].map((i) => BigInt(i))
    const mutations = ['A:1', 'A:2', 'A:3', 'A:4', 'A:5', 'A:6'].map((words) => upsertOf(words, { list }))
    await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
    const turns = vi.spyOn(scheduler, 'defer')
    await engine.createIndex(engine.database('p'), byParity)
    // One after each of them.
    expect(turns.mock.calls.length).toBeGreaterThanOrEqual(6)
  })

  test('tells how far it is: entities of its kind, in all namespaces, and no others', async () => {
    const others = [...Array(30).keys()].map((i): [Key, number] => [
      { partition: keyOf(1).partition, path: [{ kind: 'B', id: BigInt(i + 1) }] },
      1,
    ])
    const many = [...Array(150).keys()].map((i): [Key, number] => [keyOf(i + 1, i < 100 ? '' : 'n'), i])
    await put(...others, ...many)
    const job = engine.indexes.create(engine.database('p'), byParity)
    expect(job.progress).toEqual({ completed: 0, estimated: 0 })
    const seen = new Set<number>()
    const watch = setInterval(() => seen.add(job.completed))
    await job.done
    clearInterval(watch)
    expect(job.progress).toEqual({ completed: 150, estimated: 150 })
    expect(await engine.check()).toMatchObject({ problemCount: 0 })
  })

  test('is defined once: another like it is refused while it is there, in whatever state', async () => {
    const database = engine.database('p')
    const { done } = engine.indexes.create(database, byParity)
    expect(() => engine.indexes.create(database, byParity)).toThrow('is being defined already')
    await done
    expect(() => engine.indexes.create(database, byParity)).toThrow('is defined already (id 1)')
    engine.indexes.drop(database, 1n)
    expect(() => engine.indexes.drop(database, 2n)).toThrow('there is no index with id 2 in project p')
  })

  test('that is dropped before it was built is given up, and leaves nothing', async () => {
    await put(...[...Array(300).keys()].map((i): [Key, number] => [keyOf(i + 1), i]))
    const database = engine.database('p')
    const building = engine.indexes.create(database, byParity)
    await building.defined
    const dropping = engine.indexes.drop(database, 1n)
    await expect(building.done).rejects.toThrow('is deleted before it was built')
    await dropping.done
    expect(states()).toEqual([])
    expect((await engine.inspector.table('EntitiesByCompositeProperty')).rows).toEqual([])
  })

  test('has its number to itself: none is given again while the process lives', async () => {
    const database = engine.database('p')
    await engine.createIndex(database, byParity)
    await engine.indexes.drop(database, 1n).done
    expect(await engine.createIndex(database, byParity)).toMatchObject({ id: 2n })
  })

  test('stays defined when the store is reset, without rows, and serves at once', async () => {
    await put([keyOf(1), 1])
    await engine.createIndex(engine.database('p'), byParity)
    await engine.createIndex(engine.database('q'), byParity)
    await engine.reset({ projectId: 'q' })
    expect(await found()).toEqual(['A:1'])
    await engine.reset()
    for (const project of ['p', 'q']) expect(engine.database(project).catalogue.serving).toHaveLength(1)
    await put([keyOf(2), 1])
    expect(await found()).toEqual(['A:2'])
    expect(await engine.check()).toMatchObject({ problemCount: 0 })
  })

  test('whose build a reset overtakes is defined anew', async () => {
    await put(...[...Array(300).keys()].map((i): [Key, number] => [keyOf(i + 1), i]))
    const job = engine.indexes.create(engine.database('p'), byParity)
    await job.defined
    await engine.reset()
    await expect(job.done).rejects.toThrow('the store was reset')
    expect(states()).toEqual(['serving'])
    expect(await engine.check()).toMatchObject({ problemCount: 0, indexRows: 0 })
  })
})

test('closing ends a build between two steps, and opening goes on with it (index-work/X2)', async () => {
  const kv = new KeptKv()
  await use(kv)
  await put(...[...Array(300).keys()].map((i): [Key, number] => [keyOf(i + 1), i]))
  const job = engine.indexes.create(engine.database('p'), byParity)
  await job.defined
  await engine.close()
  await expect(job.done).rejects.toThrow('the store is being closed')
  await use(kv)
  expect(states()).toEqual(['building'])
  await engine.indexes.jobOf(engine.database('p'), byParity)?.done
  expect(await found()).toHaveLength(150)
  expect(await engine.check()).toMatchObject({ problemCount: 0 })
})

test('a build that fails leaves an index that says so and can be dropped', async () => {
  const inner = new MemoryKv()
  await use(inner)
  await put([keyOf(1), 1])
  const { partition, path } = keyCodes(keyOf(1))
  const row = entityRowKey(partition, path)
  const cell = inner.get(row)
  inner.mutate({ key: row, value: cell?.subarray(0, -1) })
  const database = engine.database('p')
  await expect(engine.createIndex(database, byParity)).rejects.toThrow()
  expect(database.catalogue.all).toMatchObject([{ state: 'failed', failure: expect.any(String) }])
  await expect(found()).rejects.toThrow('could not be built')
  inner.mutate({ key: row, value: cell })
  await engine.indexes.drop(database, 1n).done
  expect(await found()).toEqual(['A:1'])
})

test('an index in which an entity would have too many rows fails; a write that would give it so many is refused', async () => {
  await use()
  const database = engine.database('p')
  const arrays = (length: number): readonly bigint[] => [...Array(length).keys()].map((i) => BigInt(i))
  const write = async (words: string, length: number): Promise<unknown> => {
    const mutations = [upsertOf(words, { x: arrays(length), y: arrays(length) })]
    return database.commit(engine.context(), { mode: 'nonTransactional', mutations })
  }
  await write('A:1', 5000)
  await expect(engine.createIndex(database, index('A(x, y)'))).rejects.toThrow('A:1 would have')
  expect(database.catalogue.all).toMatchObject([{ state: 'failed' }])
  await engine.indexes.drop(database, 1n).done
  await write('A:1', 10)
  await engine.createIndex(database, index('A(x, y)'))
  await expect(write('A:2', 5000)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  await write('A:2', 50)
  expect(await engine.check()).toMatchObject({ problemCount: 0, pending: [] })
})

test('a store that no longer writes fails the build, which begins anew when it is opened', async () => {
  const inner = new MemoryKv()
  await use(inner)
  await put([keyOf(1), 1])
  // Write 1 stores the definition, write 2 the rows.
  const failing = new FaultyKv(inner, { kind: 'fail', atWrite: 2 })
  await use(failing)
  await expect(engine.createIndex(engine.database('p'), byParity)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(states()).toEqual(['failed'])
  await use(inner)
  expect(states()).toEqual(['building'])
  expect(await found()).toEqual(['A:1'])
})

test('nothing is applied while an entity is read and its rows are written (apply/A3)', async () => {
  const kv = new WatchedKv(new MemoryKv())
  await use(kv)
  await put([keyOf(1), 1])
  engine.database('p').configure({ applyPolicy: { type: 'manual' } })
  await put([keyOf(1), 3])
  // As soon as the builder has read the old image, the new one is applied.
  let released: Promise<unknown> | undefined
  kv.afterEntityRead = async () => {
    released ??= engine.inspector.release(keyOf(1), 'B')
    for (let i = 0; i < 200; i++) await Promise.resolve()
  }
  await engine.createIndex(engine.database('p'), byParity)
  await released
  expect(released).toBeDefined()
  expect(await engine.check()).toMatchObject({ problemCount: 0 })
})

test('a query whose index goes while it reads is made again (index-work/X3)', async () => {
  const kv = new WatchedKv(new MemoryKv())
  await use(kv)
  await put([keyOf(1), 1], [keyOf(2), 3])
  const database = engine.database('p')
  await engine.createIndex(database, byParity)
  let drops = 0
  kv.beforeIndexRows = async () => {
    kv.beforeIndexRows = undefined
    drops++
    await engine.indexes.drop(database, 1n).done
  }
  expect(await found()).toEqual(['A:2', 'A:1'])
  expect(drops).toBe(1)
  expect(database.catalogue.all).toMatchObject([{ id: 2n, state: 'serving' }])
})

describe('a transaction that reads by an index', () => {
  beforeEach(() => use())

  test.each(['pessimistic', 'optimistic'] as const)('is aborted when the index is dropped: %s', async (concurrency) => {
    const database = engine.database('p')
    database.configure({ concurrency })
    await put([keyOf(1), 1])
    await engine.createIndex(database, byParity)
    const transaction = await database.beginTransaction(engine.context(), { mode: 'readWrite' })
    expect(await found(transaction)).toEqual(['A:1'])
    await engine.indexes.drop(database, 1n).done
    const mutations = [mutationOf(keyOf(2), 5)]
    await expect(
      (async () => database.commit(engine.context(), { mode: 'transactional', transaction, mutations }))(),
    ).rejects.toMatchObject({ code: 'ABORTED', message: expect.stringContaining('A(parity, v desc)') })
  })
})

/** Is not closed with its engine, so that it can be opened again. */
class KeptKv extends MemoryKv {
  override async close(): Promise<void> {}
}

/** Does something between the reading of an entity and the answer, or before rows of composite indexes are read. */
class WatchedKv extends AsyncKv {
  afterEntityRead: (() => Promise<void>) | undefined
  beforeIndexRows: (() => Promise<void>) | undefined

  override scan(range: KeyRange, options?: ScanOptions): KvScan {
    return this.#watched(super.scan(range, options), range)
  }

  override snapshot(): KvSnapshot {
    const snapshot = super.snapshot()
    return { ...snapshot, scan: (range, options) => this.#watched(snapshot.scan(range, options), range) }
  }

  #watched(scan: KvScan, range: KeyRange): KvScan {
    if (!range.start.startsWith(keySpaces.EntitiesByCompositeProperty)) return scan
    const next = async (count: number): Promise<readonly KvRow[]> => {
      await this.beforeIndexRows?.()
      return scan.next(count)
    }
    return { next, seek: (key) => scan.seek(key), close: () => scan.close() }
  }

  override async get(key: string): Promise<Uint8Array | undefined> {
    const cell = await super.get(key)
    if (key.startsWith(keySpaces.Entities)) await this.afterEntityRead?.()
    return cell
  }
}
