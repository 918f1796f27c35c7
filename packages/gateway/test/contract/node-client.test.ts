/** The public Node client, unchanged, against gateway and engine. */
import { Datastore, PropertyFilter } from '@google-cloud/datastore'
import { type Engine, openEngine } from '@sixtables/engine'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../src/emulator/server.ts'

let engine: Engine
let gateway: Gateway
let datastore: Datastore

beforeAll(async () => {
  // Without this the client asks the network where it is running.
  process.env['METADATA_SERVER_DETECTION'] = 'none'
  engine = await openEngine()
  gateway = await startGateway({ engine, port: 0 })
  process.env['DATASTORE_EMULATOR_HOST'] = `localhost:${gateway.port}`
  datastore = new Datastore({ projectId: 'p' })
})

afterAll(async () => {
  await gateway.close()
  await engine.close()
})

beforeEach(() => engine.reset())

describe('entities', () => {
  test('of every type come back as they were saved', async () => {
    const key = datastore.key(['Parent', 7, 'K', 'ä/\u0000😀'])
    const data = {
      nothing: null,
      yes: true,
      integer: datastore.int(42),
      double: datastore.double(1.5),
      text: 'τεξτ',
      blob: Buffer.from([0, 255, 1]),
      at: new Date('2020-02-03T04:05:06.789Z'),
      place: datastore.geoPoint({ latitude: 1.25, longitude: -2.5 }),
      other: datastore.key(['Other', 5]),
      list: [1, 'two', null, { three: 3 }],
      empty: [],
      inner: { a: { b: 'c' } },
    }
    await datastore.save({ key, data })
    const [found] = await datastore.get(key)
    expect(found).toMatchObject({
      ...data,
      integer: 42,
      double: 1.5,
      place: { latitude: 1.25, longitude: -2.5 },
      other: { kind: 'Other', id: '5' },
    })
    expect(found[datastore.KEY].path).toEqual(['Parent', '7', 'K', 'ä/\u0000😀'])
  })

  test('without an id are given one, and the client learns it', async () => {
    const key = datastore.key('K')
    await datastore.save({ key, data: { v: 1 } })
    expect(key.id).toMatch(/^\d+$/)
    expect((await datastore.get(key))[0]).toMatchObject({ v: 1 })
  })

  test('are inserted, updated, upserted and deleted', async () => {
    const key = datastore.key(['K', 'x'])
    await expect(datastore.update({ key, data: {} })).rejects.toMatchObject({ code: 5 })
    await datastore.insert({ key, data: { v: 1 } })
    await expect(datastore.insert({ key, data: {} })).rejects.toMatchObject({ code: 6 })
    await datastore.update({ key, data: { v: 2 } })
    await datastore.upsert({ key, data: { v: 3 } })
    expect((await datastore.get(key))[0]).toMatchObject({ v: 3 })
    await datastore.delete(key)
    expect((await datastore.get(key))[0]).toBeUndefined()
  })

  test('of several keys come together, missing ones left out', async () => {
    const keys = [1, 2, 3].map((id) => datastore.key(['K', id]))
    await datastore.save([keys[0], keys[2]].map((key) => ({ key, data: { v: 1 } })))
    expect((await datastore.get(keys))[0]).toHaveLength(2)
  })

  test('in namespaces and databases keep apart', async () => {
    const named = new Datastore({ projectId: 'p', databaseId: 'db2' })
    const inNamespace = datastore.key({ namespace: 'n', path: ['K', 'x'] })
    await datastore.save({ key: datastore.key(['K', 'x']), data: { where: 'default' } })
    await datastore.save({ key: inNamespace, data: { where: 'namespace' } })
    await named.save({ key: named.key(['K', 'x']), data: { where: 'database' } })
    expect((await datastore.get(datastore.key(['K', 'x'])))[0]).toMatchObject({ where: 'default' })
    expect((await datastore.get(inNamespace))[0]).toMatchObject({ where: 'namespace' })
    expect((await named.get(named.key(['K', 'x'])))[0]).toMatchObject({ where: 'database' })
    expect((await datastore.runQuery(datastore.createQuery('K')))[0]).toHaveLength(1)
    expect((await datastore.runQuery(datastore.createQuery('n', 'K')))[0]).toMatchObject([{ where: 'namespace' }])
  })
})

describe('queries', () => {
  beforeEach(async () => {
    const entities = Array.from({ length: 25 }, (_, i) => ({
      key: datastore.key(['Parent', 'p', 'K', i + 1]),
      data: { n: i, parity: i % 2 === 0 ? 'even' : 'odd' },
    }))
    await datastore.save(entities)
  })

  const numbers = (entities: { n: number }[]): number[] => entities.map(({ n }) => n)

  test('filter, order and limit', async () => {
    const query = datastore
      .createQuery('K')
      .filter(new PropertyFilter('n', '>=', 10))
      .order('n', { descending: true })
      .limit(3)
    const [found, info] = await datastore.runQuery(query)
    expect(numbers(found)).toEqual([24, 23, 22])
    expect(info.moreResults).toBe('MORE_RESULTS_AFTER_LIMIT')
  })

  test('by several equalities and by ancestor', async () => {
    const both = datastore
      .createQuery('K')
      .filter(new PropertyFilter('parity', '=', 'even'))
      .filter(new PropertyFilter('n', '=', 4))
    expect(numbers((await datastore.runQuery(both))[0])).toEqual([4])
    const below = datastore.createQuery('K').hasAncestor(datastore.key(['Parent', 'p']))
    expect((await datastore.runQuery(below))[0]).toHaveLength(25)
    const elsewhere = datastore.createQuery('K').hasAncestor(datastore.key(['Parent', 'q']))
    expect((await datastore.runQuery(elsewhere))[0]).toHaveLength(0)
  })

  test('for keys only', async () => {
    const [found] = await datastore.runQuery(datastore.createQuery('K').select('__key__').limit(2))
    expect(found.map((entity: Record<symbol, { id: string }>) => entity[datastore.KEY]?.id)).toEqual(['1', '2'])
  })

  test('page by cursors to the end', async () => {
    const seen: number[] = []
    let cursor: string | undefined
    for (let page = 0; page < 10; page++) {
      const query = datastore.createQuery('K').order('n').limit(10)
      const [found, info] = await datastore.runQuery(cursor === undefined ? query : query.start(cursor))
      seen.push(...numbers(found))
      if (info.moreResults === 'NO_MORE_RESULTS') break
      cursor = info.endCursor
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, i) => i))
  })

  test("go back by the reverse query from a cursor, as on both of Google's emulators", async () => {
    const forward = () => datastore.createQuery('K').order('n').order('__key__')
    const back = () =>
      datastore.createQuery('K').order('n', { descending: true }).order('__key__', { descending: true })
    const page = async (query: ReturnType<typeof forward>) => {
      const [found, { endCursor = '' }] = await datastore.runQuery(query)
      return { found: numbers(found), endCursor }
    }
    const first = await page(forward().limit(5))
    const second = await page(forward().limit(5).start(first.endCursor))
    expect(second.found).toEqual([5, 6, 7, 8, 9])
    const again = await page(back().limit(5).start(second.endCursor))
    expect(again.found).toEqual([9, 8, 7, 6, 5])
    expect((await page(back().start(again.endCursor))).found).toEqual([4, 3, 2, 1, 0])
    expect((await page(forward().limit(2).start(again.endCursor))).found).toEqual([5, 6])
    expect((await page(back().end(first.endCursor).limit(30))).found).toHaveLength(20)
    // By keys alone, too.
    const keys = await page(datastore.createQuery('K').limit(3))
    const downwards = datastore.createQuery('K').order('__key__', { descending: true })
    expect((await page(downwards.start(keys.endCursor))).found).toEqual(keys.found.toReversed())
  })

  test('skip by offset', async () => {
    const [found] = await datastore.runQuery(datastore.createQuery('K').order('n').offset(20))
    expect(numbers(found)).toEqual([20, 21, 22, 23, 24])
  })
})

describe('ids', () => {
  test('are allocated, all different', async () => {
    const [keys] = await datastore.allocateIds(datastore.key('K'), 100)
    expect(new Set(keys.map(({ id }) => id)).size).toBe(100)
  })
})

test('answers larger than one message come whole', async () => {
  const big = 'x'.repeat(900_000)
  const keys = Array.from({ length: 10 }, (_, i) => datastore.key(['Big', i + 1]))
  for (const key of keys) await datastore.save({ key, data: { big }, excludeFromIndexes: ['big'] })
  expect((await datastore.get(keys))[0]).toHaveLength(10)
  expect((await datastore.runQuery(datastore.createQuery('Big')))[0]).toHaveLength(10)
})
