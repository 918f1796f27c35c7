/** Aggregations over find_nearest, on an engine in memory. */
import { beforeEach, expect, test } from 'vitest'
import { encodeKey, encodeProperties } from '../encoding/entity-codec.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import type { Value } from '../model/value.ts'
import { key } from '../testing/query-world.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import type { Aggregation } from './api.ts'

let engine: Engine

const vector = (...values: number[]): Value => ({
  type: 'array',
  values: values.map((value): Value => ({ type: 'double', value })),
  meaning: 31,
  excludeFromIndexes: true,
})
const integer = (value: bigint): Value => ({ type: 'integer', value })

beforeEach(async () => {
  engine = await openEngine({ scheduler: new VirtualClock() })
  const entities: Record<string, Record<string, Value>> = {
    'A:1': { x: vector(1, 1), v: integer(3n) },
    'A:2': { x: vector(1, 2) },
    'A:3': { x: vector(1, 3), v: { type: 'array', values: [integer(5n), integer(2n)] } },
    'A:4': { x: vector(1, 9), v: integer(100n) },
    'A:5': { v: integer(1000n) },
  }
  const mutations = Object.entries(entities).map(([words, properties]) => {
    const keyBytes = encodeKey(key(words))
    const head = Buffer.from([0x0a, keyBytes.length])
    const entity = Buffer.concat([head, keyBytes, encodeProperties(new Map(Object.entries(properties)))])
    return { operation: 'upsert' as const, entity }
  })
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
})

async function run(aggregations: readonly Aggregation[], projection: readonly string[] = []): Promise<Value[]> {
  const query = {
    partition: { projectId: 'p', databaseId: '', namespaceId: '' },
    kind: 'A',
    projection,
    order: [],
    distinctOn: [],
    offset: 0,
    nearest: { property: 'x', vector: vector(1, 1), measure: 'euclidean' as const, limit: 3 },
  }
  const { values } = await engine.database('p').runAggregationQuery(engine.context(), { query, aggregations })
  return [...values.values()]
}

const count: Aggregation = { operator: 'count', upTo: undefined }
const sum: Aggregation = { operator: 'sum', property: 'v' }

test('a count is of the nearest', async () => {
  expect(await run([count, { operator: 'count', upTo: 2n }])).toEqual([integer(3n), integer(2n)])
})

test('a sum is of the values that the nearest have, once for each', async () => {
  expect(await run([sum, count])).toEqual([integer(10n), integer(3n)])
  expect(await run([{ operator: 'avg', property: 'v' }])).toEqual([{ type: 'double', value: 10 / 3 }])
})

test('of a projection, where each value of an array is a candidate, it is of the nearest rows', async () => {
  expect(await run([sum, count], ['v'])).toEqual([integer(10n), integer(3n)])
})

test('what no aggregation may ask is refused', async () => {
  await expect(run([])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  await expect(run([sum], ['__key__'])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
})
