import { afterEach, beforeEach, expect, test } from 'vitest'
import { CountingLedger, requestContext, TableLedger } from '../context.ts'
import { encodeKey, encodeProperties } from '../encoding/entity-codec.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import { and, entity, query, where } from '../testing/query-world.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import type { Aggregation } from './api.ts'

let engine: Engine

beforeEach(async () => {
  engine = await openEngine()
  const tasks = Array.from({ length: 10 }, (_, i) =>
    entity(`T:${i + 1}`, { p: BigInt(i), owner: i < 4 ? 'ada' : 'bob' }),
  )
  for (const { key, properties } of tasks) {
    const keyBytes = encodeKey(key)
    const bytes = Buffer.concat([Buffer.from([0x0a, keyBytes.length]), keyBytes, encodeProperties(properties)])
    await database().commit(engine.context(), {
      mode: 'nonTransactional',
      mutations: [{ operation: 'upsert', entity: bytes }],
    })
  }
})

afterEach(() => engine.close())

const database = () => engine.database('p', '')
const context = (ledger = new CountingLedger()) => requestContext({ clock: new VirtualClock(), ledger })
const ofAda = { query: query({ kind: 'T', filter: where('owner', '=', 'ada') }) }
const count: Aggregation = { operator: 'count', upTo: undefined }

test('without analyze a query is planned and no row is read', async () => {
  const ledger = new CountingLedger()
  const { batch, metrics } = await database().explainQuery(context(ledger), ofAda, { analyze: false })
  expect(batch).toBeUndefined()
  expect(metrics.stats).toBeUndefined()
  expect(metrics.indexesUsed).toEqual([{ queryScope: 'Collection group', properties: '(owner ASC, __name__ ASC)' }])
  expect(ledger.rowsRead).toBe(0)
})

test('with analyze come the results, and what the ledger noted', async () => {
  const ledger = new TableLedger()
  const { batch, metrics } = await database().explainQuery(context(ledger), ofAda, { analyze: true })
  expect(batch?.results).toHaveLength(4)
  expect(metrics.stats).toEqual({
    resultsReturned: 4,
    durationMicros: 0n,
    readOperations: 4,
    indexEntriesScanned: 4,
    documentsScanned: 4,
    billing: { documents: 4, indexEntries: 0, smallOperations: 0, minimum: 0 },
    rowsRead: { EntitiesByPropertyAsc: 4, Entities: 4 },
  })
  expect(ledger.rowsRead).toBe(8)
  expect(metrics.plan).toContain('scan EntitiesByPropertyAsc T: owner = "ada"')
  expect(metrics.tree?.source).toMatchObject({ type: 'scan', table: 'EntitiesByPropertyAsc', inputs: [] })
})

test('a query for keys looks at no entity and is charged as one read', async () => {
  const keys = { query: query({ ...ofAda.query, projection: ['__key__'], order: [] }) }
  const { metrics } = await database().explainQuery(context(), keys, { analyze: true })
  expect(metrics.stats).toMatchObject({ resultsReturned: 4, readOperations: 1, documentsScanned: 0 })
  expect(metrics.stats?.billing).toEqual({ documents: 0, indexEntries: 0, smallOperations: 4, minimum: 1 })
})

test('results passed over are charged, and a query without results too', async () => {
  const all = { query: query({ kind: 'T', offset: 7 }) }
  expect((await database().explainQuery(context(), all, { analyze: true })).metrics.stats?.readOperations).toBe(10)
  const none = { query: query({ kind: 'Nothing' }) }
  const { stats } = (await database().explainQuery(context(), none, { analyze: true })).metrics
  expect(stats?.readOperations).toBe(1)
  expect(stats?.billing).toEqual({ documents: 0, indexEntries: 0, smallOperations: 0, minimum: 1 })
})

test('index entries are charged where several properties have inequalities', async () => {
  const owners = where('owner', '>=', 'bob')
  const one = { query: query({ kind: 'T', filter: owners }) }
  const ofOne = (await database().explainQuery(context(), one, { analyze: true })).metrics.stats
  expect(ofOne).toMatchObject({ readOperations: 6, billing: { documents: 6, indexEntries: 0 } })
  const two = { query: query({ kind: 'T', filter: and(owners, where('p', '>', 8n)) }) }
  const ofTwo = (await database().explainQuery(context(), two, { analyze: true })).metrics.stats
  expect(ofTwo?.billing).toEqual({
    documents: 1,
    indexEntries: ofTwo?.indexEntriesScanned,
    smallOperations: 0,
    minimum: 0,
  })
  expect(ofTwo?.readOperations).toBe(2)
})

test('an aggregation is explained by the rows it counts', async () => {
  const asked = { ...ofAda, aggregations: [count] }
  const planned = await database().explainAggregationQuery(context(), asked, { analyze: false })
  expect(planned.batch).toBeUndefined()
  expect(planned.metrics.plan).toContain('aggregate property_1')
  const { batch, metrics } = await database().explainAggregationQuery(context(), asked, { analyze: true })
  expect(batch?.values.get('property_1')).toEqual({ type: 'integer', value: 4n })
  expect(metrics.stats).toMatchObject({ resultsReturned: 1, readOperations: 1, indexEntriesScanned: 4 })
})

test('a transaction that the request asks for begins, whether the query runs or not', async () => {
  for (const analyze of [false, true]) {
    const asked = { ...ofAda, read: { newTransaction: { mode: 'readOnly' } } } as const
    const { transaction } = await database().explainQuery(context(), asked, { analyze })
    expect(transaction?.length).toBeGreaterThan(0)
    await database().rollback(context(), transaction ?? new Uint8Array())
  }
})

test('an explained query still ends with its caller', async () => {
  const gone = requestContext({ clock: new VirtualClock(), signal: AbortSignal.abort() })
  expect(() => database().explainQuery(gone, ofAda, { analyze: true })).toThrow(/cancelled/)
})

test('a search by vector is explained by the candidates it looked at', async () => {
  const vector = { type: 'array', meaning: 31, values: [{ type: 'double', value: 1 }] } as const
  const nearest = { property: 'v', vector, measure: 'cosine', limit: 3 } as const
  const asked = { query: { ...ofAda.query, nearest } }
  const { batch, metrics } = await database().explainQuery(context(), asked, { analyze: true })
  expect(batch?.results).toEqual([])
  expect(metrics.stats).toMatchObject({ resultsReturned: 0, readOperations: 1, documentsScanned: 4 })
  expect(metrics.plan).toContain('of these the nearest 3 by v: cosine distance')
  const counted = { ...asked, aggregations: [count] }
  const explained = await database().explainAggregationQuery(context(), counted, { analyze: true })
  expect(explained.metrics.plan).toContain('of these the nearest 3 by v: cosine distance')
  expect(explained.metrics.stats).toMatchObject({ resultsReturned: 1, documentsScanned: 4 })
})
