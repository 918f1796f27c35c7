import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { array, entity, integer, keyOf, property, string } from '../../../test/property/entity-messages.ts'
import { type Engine, openEngine } from '../../engine/engine.ts'
import type { Key } from '../../model/key.ts'
import { sliceWorkMax } from '../../slices.ts'
import { BTree } from '../../storage/btree.ts'
import { MemoryKv } from '../../storage/memory-kv.ts'
import { RowProducer } from '../../tables/entity-rows.ts'
import { query } from '../../testing/query-world.ts'
import { turnScheduler } from '../../testing/turn-scheduler.ts'
import { pageCharsMax } from './report-page.ts'

let engine: Engine
let turns = 0

const scheduler = turnScheduler(() => turns++)

const root = { kind: 'G', name: 'g' }
const megabyte = 'x'.repeat(1_000_000)

async function put(key: Key, ...texts: readonly string[]): Promise<void> {
  const isShort = texts.length > 1
  const properties = texts.map((text, i) => property(`p${i}`, string(text, !isShort)))
  const mutations = [{ operation: 'upsert' as const, entity: entity(key, ...properties) }]
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
}

beforeEach(async () => {
  engine = await openEngine({ scheduler })
  turns = 0
})

afterEach(() => engine.close())

interface Page<Item> {
  readonly items: readonly Item[]
  readonly place: string | undefined
}

/** All pages of a report, none of which is larger than a page and one item. */
async function pagesOf<Item>(ask: (place: string | undefined) => Promise<Page<Item>>): Promise<(readonly Item[])[]> {
  const pages: (readonly Item[])[] = []
  for (let place: string | undefined; pages.length === 0 || place !== undefined; ) {
    const page = await ask(place)
    expect(page.items.length).toBeGreaterThan(0)
    expect(JSON.stringify(page.items.slice(0, -1)).length).toBeLessThan(pageCharsMax * 1.05)
    pages.push(page.items)
    place = page.place
  }
  return pages
}

describe('large values', () => {
  const ids = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]

  beforeEach(async () => {
    engine.database('p').configure({ applyPolicy: { type: 'manual' } })
    for (const id of ids) await put(keyOf([root, { kind: 'A', id: BigInt(id) }]), megabyte)
    turns = 0
  })

  const namesIn = (words: string): readonly number[] => [...words.matchAll(/\bA:(\d+)/g)].map(([, id]) => Number(id))

  test.each([
    ['forwards', ['after', 'next'] as const, ids],
    ['backwards', ['before', 'previous'] as const, ids.toReversed()],
  ])('rows of a table come in pages %s, each in several turns', async (_, [parameter, member], expected) => {
    await engine.inspector.releaseAll()
    turns = 0
    const pages = await pagesOf(async (place = parameter === 'before' ? '46' : undefined) => {
      const from = place === '46' ? '45 ff' : place
      const report = await engine.inspector.table('Entities', { [parameter]: from, limit: 1000 })
      const rows = parameter === 'before' ? report.rows.toReversed() : report.rows
      return { items: rows, place: report[member] }
    })
    expect(pages.map(({ length }) => length)).toEqual([5, 5, 1])
    expect(pages.flat().flatMap(({ row }) => namesIn(row))).toEqual(expected)
    expect(pages.flat().every(({ value }) => value.includes(megabyte))).toBe(true)
    expect(turns).toBeGreaterThanOrEqual(ids.length)
  })

  test('records of a log come in pages, the newest first', async () => {
    const key = keyOf([root])
    const pages = await pagesOf(async (place) => {
      const before = place === undefined ? undefined : BigInt(place)
      const { records, previous, hasMore } = await engine.inspector.log(key, { before })
      expect(hasMore).toBe(previous === undefined ? undefined : true)
      return { items: records, place: previous }
    })
    expect(pages.map(({ length }) => length)).toEqual([5, 5, 1])
    const inOrder = pages.toReversed().flat()
    expect(inOrder.flatMap(({ changes }) => changes.flatMap(namesIn))).toEqual(ids)
    expect(turns).toBeGreaterThanOrEqual(ids.length)
  })

  test('waiting records come in pages, while those of the page before are applied too', async () => {
    const pages = await pagesOf(async (after) => {
      const { pending, next, more } = await engine.inspector.pending({ after })
      expect(more === undefined).toBe(next === undefined)
      if (after === undefined) await engine.inspector.release(keyOf([root]), 'B', BigInt(pending[2]?.version ?? 0))
      return { items: pending, place: next }
    })
    expect(pages.flat().flatMap(({ changes }) => changes.flatMap(namesIn))).toEqual(ids)
    expect((await engine.inspector.pending({ words: 100 })).next).toBeUndefined()
    expect(turns).toBeGreaterThanOrEqual(ids.length)
  })
})

test('waiting records of many groups have each a place, which the records before it do not change', async () => {
  engine.database('p').configure({ applyPolicy: { type: 'manual' } })
  const keys = Array.from({ length: 30 }, (_, i) => keyOf([{ kind: 'G', name: `g${i % 10}` }]))
  for (const [i, key] of keys.entries()) await put(key, `text ${i}`)
  const whole = (await engine.inspector.pending()).pending
  const pages = await pagesOf(async (after) => {
    const { pending, next } = await engine.inspector.pending({ after, limit: 4 })
    // A group that was shown is applied and waits again, so it is reported again at the end.
    if (after === undefined) {
      await engine.inspector.release(keys[0] as Key, 'B')
      await put(keys[0] as Key, 'again')
    }
    return { items: pending, place: next }
  })
  const again = (await engine.inspector.pending()).pending.at(-1)
  expect(pages.flat()).toEqual([...whole, again])
  await expect(engine.inspector.pending({ after: 'x' })).rejects.toThrow('after is the member next')
})

test('rows of an entity with many index rows come in pages, with the log behind the last', async () => {
  const key = keyOf([{ kind: 'A', id: 7n }])
  await put(key, ...Array.from({ length: 450 }, (_, i) => `${i} ${'x'.repeat(1400)}`))
  const logs: number[] = []
  const pages = await pagesOf(async (after) => {
    const { rows, next, log } = await engine.inspector.rows(key, { after })
    logs.push(log.records.length)
    expect(log.hasMore).toBe(next === undefined ? undefined : true)
    return { items: rows, place: next }
  })
  expect(logs).toEqual([0, 1])
  const perTable = new Map<string, (typeof pages)[number][number][]>()
  for (const row of pages.flat()) perTable.set(row.table, [...(perTable.get(row.table) ?? []), row])
  expect([...perTable].map(([table, rows]) => [table, rows.length])).toEqual([
    ['Entities', 1],
    ['EntitiesByKind', 1],
    ['EntitiesByPropertyAsc', 450],
    ['EntitiesByPropertyDesc', 450],
  ])
  for (const rows of perTable.values()) {
    const keys = rows.map(({ rowKey }) => rowKey)
    expect(keys).toEqual([...new Set(keys)].sort())
  }
})

test('thousands of index rows of an entity are made together, and sorted in slices', async () => {
  const key = keyOf([{ kind: 'A', id: 7n }])
  const count = 3000
  await put(key, ...Array.from({ length: count }, (_, i) => `text ${i}`))
  const sorted = vi.spyOn(Array.prototype, 'sort')
  const read = vi.spyOn(MemoryKv.prototype, 'get')
  turns = 0
  const { rows, next } = await engine.inspector.rows(key, { words: 10 })
  const longest = Math.max(...(sorted.mock.contexts as unknown[][]).map(({ length }) => length))
  sorted.mockRestore()
  expect(rows).toHaveLength(2 * count + 2)
  expect(next).toBeUndefined()
  expect(longest).toBeLessThan(1000)
  // Each row looks for its entity once, and a table makes the rows of the entity once.
  expect(read.mock.calls.length).toBeLessThan(2 * count + 20)
  expect(turns).toBeGreaterThanOrEqual(5)
})

test('versions come in pages, and the last of a page knows its end', async () => {
  const key = keyOf([{ kind: 'A', id: 7n }])
  for (let i = 0; i < 10; i++) await put(key, `text ${i}`)
  const whole = (await engine.inspector.versions(key)).versions
  expect(whole).toHaveLength(10)
  const pages = await pagesOf(async (place) => {
    const before = place === undefined ? undefined : BigInt(place)
    const { versions, previous } = await engine.inspector.versions(key, { limit: 4, before })
    return { items: versions, place: previous }
  })
  expect(pages.map(({ length }) => length)).toEqual([4, 4, 2])
  expect(pages.toReversed().flat()).toEqual(whole)
})

test.each([
  ['many groups', (i: number) => keyOf([{ kind: 'G', id: BigInt(i + 1) }])],
  ['one group', (i: number) => keyOf([root, { kind: 'A', id: BigInt(i + 1) }])],
])('the release of the waiting records of %s gives way, and so does a strong query over them', async (_, keyAt) => {
  const count = 1000
  engine.database('p').configure({ applyPolicy: { type: 'manual' } })
  const fill = async (text: string): Promise<void> => {
    for (let i = 0; i < count; i++) await put(keyAt(i), text)
    turns = 0
  }
  await fill('a')
  expect(await engine.inspector.releaseAll(engine.database('p').code)).toBe(count)
  expect(turns).toBeGreaterThanOrEqual(3)
  await fill('b')
  expect(engine.waitingRecords).toBe(count)
  const asked = query({ kind: 'G', limit: 1 })
  await engine.database('p').runQuery(engine.context(), { query: asked, read: { consistency: 'strong' } })
  expect(engine.waitingRecords).toBe(0)
  expect(turns).toBeGreaterThanOrEqual(3)
})

/** A put of an entity with 19,000 values. */
async function putMany(): Promise<Key> {
  const key = keyOf([root, { kind: 'Many', id: 1n }])
  const values = Array.from({ length: 19_000 }, (_, i) => integer((i * 7919) % 19_000))
  const mutations = [{ operation: 'upsert' as const, entity: entity(key, property('v', array(...values))) }]
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
  return key
}

/** Reports the rows of an entity. @param workOfTurn - asked after each turn. @returns the most that it gave */
async function mostInATurn(key: Key, workOfTurn: () => number): Promise<number> {
  let isDone = false
  const done = engine.inspector.rows(key).finally(() => {
    isDone = true
  })
  let most = 0
  while (!isDone) {
    await nextTurn()
    most = Math.max(most, workOfTurn())
  }
  await done
  return most
}

test('the rows of an entity with many values are put in order in slices', async () => {
  const key = await putMany()
  const set = vi.spyOn(BTree.prototype, 'set')
  const most = await mostInATurn(key, () => {
    const { length } = set.mock.calls
    set.mockClear()
    return length
  })
  set.mockRestore()
  expect(most).toBeLessThan(2 * sliceWorkMax)
})

test('the rows that a waiting commit of an entity with many values will write are made in slices', async () => {
  engine.database('p').configure({ applyPolicy: { type: 'manual' } })
  const key = await putMany()
  const make = vi.spyOn(RowProducer.prototype, 'indexRows')
  const most = await mostInATurn(key, () => {
    const places = make.mock.calls.map(([change, from = 0, to = change.places]) => Math.min(to, change.places) - from)
    make.mockClear()
    return places.reduce((sum, count) => sum + count, 0)
  })
  make.mockRestore()
  expect(most).toBeLessThan(2 * sliceWorkMax)
})
