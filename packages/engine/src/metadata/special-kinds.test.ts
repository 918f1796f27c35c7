import { beforeEach, expect, test } from 'vitest'
import type { Aggregation } from '../database/api.ts'
import { encodeKey, encodeProperties } from '../encoding/entity-codec.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import type { PathElement } from '../model/key.ts'
import type { Filter, Query } from '../model/query.ts'
import type { Value } from '../model/value.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'

let engine: Engine

async function put(path: readonly PathElement[], properties: Readonly<Record<string, Value>>, namespaceId = '') {
  const key = encodeKey({ partition: { projectId: 'p', databaseId: '', namespaceId }, path })
  const fields = encodeProperties(new Map(Object.entries(properties)))
  const entity = Buffer.concat([Buffer.from([0x0a, key.length]), key, fields])
  const mutations = [{ operation: 'upsert' as const, entity }]
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
}

beforeEach(async () => {
  engine = await openEngine({ scheduler: new VirtualClock() })
  const owner: Value = { type: 'string', value: 'ada' }
  await put([{ kind: 'ToDo', id: 1n }], { owner, done: { type: 'boolean', value: false } })
  await put(
    [
      { kind: 'ToDo', id: 1n },
      { kind: 'Note', id: 2n },
    ],
    { owner },
  )
  await put([{ kind: 'Other', id: 1n }], { owner }, 'n1')
  const properties = ['owner', 'done'].map((name) => ({ name, direction: 'ascending' as const }))
  await engine.createIndex(engine.database('p'), { kind: 'ToDo', ancestor: false, properties })
})

function queryOf(kind: string, more: Partial<Query> = {}, namespaceId = ''): Query {
  const partition = { projectId: 'p', databaseId: '', namespaceId }
  return { partition, kind, projection: [], order: [], distinctOn: [], offset: 0, ...more }
}

const keyFilter = (operator: 'greaterThan' | 'hasAncestor', path: readonly PathElement[]): Filter => {
  const key = { partition: { projectId: 'p', databaseId: '', namespaceId: '' }, path }
  return { type: 'property', property: '__key__', operator, value: { type: 'key', key } }
}

const count: Aggregation = { operator: 'count', upTo: undefined, alias: 'n' }

async function aggregated(query: Query, ...aggregations: readonly Aggregation[]): Promise<readonly Value[]> {
  const { values } = await engine.database('p').runAggregationQuery(engine.context(), { query, aggregations })
  return [...values.values()]
}

const integer = (value: number): Value => ({ type: 'integer', value: BigInt(value) })

test.each([
  '__namespace__',
  '__kind__',
  '__property__',
  '__Stat_Total__',
  '__Stat_Namespace__',
  '__Stat_Kind__',
  '__Stat_Kind_IsRootEntity__',
  '__Stat_Kind_NotRootEntity__',
  '__Stat_PropertyType__',
  '__Stat_PropertyType_Kind__',
  '__Stat_PropertyName_Kind__',
  '__Stat_PropertyType_PropertyName_Kind__',
  '__Stat_Kind_CompositeIndex__',
])('a count over %s is of what the query finds', async (kind) => {
  const { results } = await engine.database('p').runQuery(engine.context(), { query: queryOf(kind) })
  expect(results.length).toBeGreaterThan(0)
  expect(await aggregated(queryOf(kind), count)).toEqual([integer(results.length)])
  expect(await aggregated(queryOf(kind, { limit: 1 }), count)).toEqual([integer(1)])
})

test('a count over metadata keeps to its namespace, its keys and its ancestor', async () => {
  expect(await aggregated(queryOf('__kind__', {}, 'n1'), count)).toEqual([integer(1)])
  const behind = keyFilter('greaterThan', [{ kind: '__kind__', name: 'Note' }])
  expect(await aggregated(queryOf('__kind__', { filter: behind }), count)).toEqual([integer(1)])
  const below = keyFilter('hasAncestor', [{ kind: '__kind__', name: 'ToDo' }])
  expect(await aggregated(queryOf('__property__', { filter: below }), count)).toEqual([integer(2)])
})

test('a count over metadata in a read-only transaction is that of its moment', async () => {
  const database = engine.database('p')
  const transaction = await database.beginTransaction(engine.context(), { mode: 'readOnly' })
  const read = { transaction }
  const counted = async () => {
    const request = { query: queryOf('__kind__'), aggregations: [count], read }
    return [...(await database.runAggregationQuery(engine.context(), request)).values.values()]
  }
  expect(await counted()).toEqual([integer(2)])
  await put([{ kind: 'Late', id: 1n }], {})
  expect(await counted()).toEqual([integer(2)])
})

test('sums over statistics add up their figures', async () => {
  expect(await aggregated(queryOf('__Stat_Kind__'), { operator: 'sum', property: 'count' })).toEqual([integer(3)])
})

test('an aggregation over metadata is refused what the query is refused', async () => {
  const order = [{ property: 'x', direction: 'ascending' as const }]
  await expect(aggregated(queryOf('__kind__', { order }), count)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
})
