/**
 * GQL and aggregations through the whole of gateway and engine: what comes back on the wire, what is refused (by code, as
 * Google's emulators do; measured, where these do not fail on it), and the public Node client.
 */

import { AggregateField, Datastore } from '@google-cloud/datastore'
import { type Engine, openEngine } from '@sixtables/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../src/emulator/server.ts'
import type { MethodName } from '../../src/methods.ts'
import { GrpcClient } from '../support/grpc-client.ts'
import { answer, request } from '../support/messages.ts'

const ok = 0
const invalid = 3

let engine: Engine
let gateway: Gateway
let client: GrpcClient
let datastore: Datastore

beforeAll(async () => {
  // Without this the client asks the network where it is running.
  process.env['METADATA_SERVER_DETECTION'] = 'none'
  engine = await openEngine()
  gateway = await startGateway({ engine, host: '127.0.0.1', port: 0 })
  client = await GrpcClient.connect(gateway.port)
  process.env['DATASTORE_EMULATOR_HOST'] = `127.0.0.1:${gateway.port}`
  datastore = new Datastore({ projectId: 'p' })
  const entities = [{ a: 1, b: 'x' }, { a: 2 }, { a: datastore.double(2.5), b: 'x' }, { a: 'no number' }, { b: 'y' }]
  await datastore.save(entities.map((data, i) => ({ key: datastore.key(['K', `e${i}`]), data })))
})

afterAll(async () => {
  client.close()
  await gateway.close()
  await engine.close()
})

interface Called {
  readonly status: number | undefined
  readonly message: string
  readonly body: Buffer
}

const call = (method: MethodName, json: object): Promise<Called> =>
  client.call(method, request(method, { projectId: 'p', ...json }))

interface GqlOptions {
  readonly named?: object
  readonly positional?: readonly object[]
  readonly allowLiterals?: boolean
}

const gql = (queryString: string, { named = {}, positional = [], allowLiterals = true }: GqlOptions = {}) => ({
  gqlQuery: { queryString, allowLiterals, namedBindings: named, positionalBindings: positional },
})

const integer = (value: number) => ({ value: { integerValue: String(value) } })

interface Batch {
  readonly entityResultType: string
  readonly entityResults?: readonly {
    readonly entity: { readonly key: { readonly path: { readonly name: string }[] } }
  }[]
}

async function run(text: string, options: GqlOptions = {}): Promise<{ names: string[]; query: unknown; batch: Batch }> {
  const { status, message, body } = await call('RunQuery', gql(text, options))
  expect(message).toBe('')
  expect(status).toBe(ok)
  const { batch, query } = answer<{ batch: Batch; query: unknown }>('RunQuery', body)
  const names = (batch.entityResults ?? []).map(({ entity }) => entity.key.path[0]?.name ?? '')
  return { names, query, batch }
}

const kind = [{ name: 'K' }]
const filter = (name: string, op: string, value: object) => ({ propertyFilter: { property: { name }, op, value } })

describe('RunQuery with GQL', () => {
  test('finds what it says', async () => {
    expect((await run('SELECT * FROM K')).names).toEqual(['e0', 'e1', 'e2', 'e3', 'e4'])
    expect((await run('SELECT * FROM K WHERE a = 2')).names).toEqual(['e1'])
    expect((await run("SELECT * FROM K WHERE b = 'x' AND a = 1")).names).toEqual(['e0'])
    expect((await run("SELECT * FROM K WHERE a = 1 OR b = 'y'")).names).toEqual(['e0', 'e4'])
    expect(
      (
        await run('SELECT * FROM K WHERE a IN @1', {
          positional: [{ value: { arrayValue: { values: [integer(1).value, integer(2).value] } } }],
        })
      ).names,
    ).toEqual(['e0', 'e1'])
    expect((await run('SELECT * FROM K WHERE a >= 1 ORDER BY a DESC LIMIT 2 OFFSET 1')).names).toEqual(['e3', 'e1'])
    expect((await run("SELECT * FROM K WHERE __key__ > KEY(K, 'e2')")).names).toEqual(['e3', 'e4'])
    expect((await run("SELECT * WHERE __key__ HAS ANCESTOR KEY(K, 'e1')")).names).toEqual(['e1'])
  })

  test('gives whole entities, projections or keys', async () => {
    expect((await run('SELECT * FROM K')).batch.entityResultType).toBe('FULL')
    expect((await run('SELECT b FROM K')).batch.entityResultType).toBe('PROJECTION')
    expect((await run('SELECT DISTINCT b FROM K')).names).toEqual(['e0', 'e4'])
    expect((await run('SELECT __key__ FROM K')).batch.entityResultType).toBe('KEY_ONLY')
  })

  test('carries the query as it was understood', async () => {
    expect((await run('SELECT * FROM K')).query).toEqual({ kind })
    expect((await run('SELECT *')).query).toEqual({})
    const { query } = await run(
      "SELECT DISTINCT a FROM K WHERE (2 < a OR a <= @1) AND __key__ > KEY(K, 'e1') ORDER BY a DESC, __key__ DESC LIMIT 7 OFFSET 1",
      { positional: [integer(0)] },
    )
    const key = { partitionId: { projectId: 'p' }, path: [{ kind: 'K', name: 'e1' }] }
    expect(query).toEqual({
      projection: [{ property: { name: 'a' } }],
      kind,
      filter: {
        compositeFilter: {
          op: 'AND',
          filters: [
            {
              compositeFilter: {
                op: 'OR',
                filters: [
                  filter('a', 'GREATER_THAN', { integerValue: '2' }),
                  filter('a', 'LESS_THAN_OR_EQUAL', { integerValue: '0' }),
                ],
              },
            },
            filter('__key__', 'GREATER_THAN', { keyValue: key }),
          ],
        },
      },
      order: [
        { property: { name: 'a' }, direction: 'DESCENDING' },
        { property: { name: '__key__' }, direction: 'DESCENDING' },
      ],
      distinctOn: [{ name: 'a' }],
      offset: 1,
      limit: 7,
    })
  })

  test.each([
    ['=', 'EQUAL'],
    ['!=', 'NOT_EQUAL'],
    ['<', 'LESS_THAN'],
    ['<=', 'LESS_THAN_OR_EQUAL'],
    ['>', 'GREATER_THAN'],
    ['>=', 'GREATER_THAN_OR_EQUAL'],
  ])('carries %s as %s', async (sign, op) => {
    expect((await run(`SELECT * FROM K WHERE a ${sign} 1`)).query).toEqual({
      kind,
      filter: filter('a', op, { integerValue: '1' }),
    })
  })

  test('carries IN, NOT IN and ancestors', async () => {
    const both = { arrayValue: { values: [{ integerValue: '1' }, { nullValue: null }] } }
    expect((await run('SELECT * FROM K WHERE a IN ARRAY(1, NULL)')).query).toEqual({
      kind,
      filter: filter('a', 'IN', both),
    })
    expect((await run('SELECT * FROM K WHERE a NOT IN ARRAY(1, NULL)')).query).toEqual({
      kind,
      filter: filter('a', 'NOT_IN', both),
    })
    const key = { keyValue: { partitionId: { projectId: 'p' }, path: [{ kind: 'K', id: '5' }] } }
    expect((await run('SELECT * FROM K WHERE __key__ HAS ANCESTOR KEY(K, 5) LIMIT 0')).query).toEqual({
      kind,
      filter: filter('__key__', 'HAS_ANCESTOR', key),
      limit: 0,
    })
  })

  test('goes on from a cursor, to a cursor, and carries both', async () => {
    const { body } = await call('RunQuery', gql('SELECT * FROM K LIMIT 2'))
    const { endCursor } = answer<{ batch: { endCursor: string } }>('RunQuery', body).batch
    const named = { c: { cursor: endCursor }, n: integer(1) }
    expect(await run('SELECT * FROM K OFFSET @c', { named })).toMatchObject({
      names: ['e2', 'e3', 'e4'],
      query: { kind, startCursor: endCursor },
    })
    expect((await run('SELECT * FROM K OFFSET @c + @n', { named })).names).toEqual(['e3', 'e4'])
    expect(await run('SELECT * FROM K LIMIT @c', { named })).toMatchObject({
      names: ['e0', 'e1'],
      query: { kind, endCursor },
    })
    expect((await run('SELECT * FROM K LIMIT FIRST(@c, @n)', { named })).names).toEqual(['e0'])
  })

  test('is answered over HTTP in the same way', async () => {
    const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/projects/p:runQuery`, {
      method: 'POST',
      body: JSON.stringify(gql('SELECT __key__ FROM K LIMIT 1')),
      headers: { 'content-type': 'application/json' },
    })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      query: { projection: [{ property: { name: '__key__' } }], kind, limit: 1 },
    })
  })

  test.each<[string, string, GqlOptions, number]>([
    ['a syntax error', 'SELECT FROM', {}, invalid],
    ['a literal that is not allowed', 'SELECT * FROM K WHERE a = 1', { allowLiterals: false }, invalid],
    ['names where literals are not allowed', 'SELECT a FROM K ORDER BY a', { allowLiterals: false }, ok],
    ['an unbound name', 'SELECT * FROM K WHERE a = @x', {}, invalid],
    ['a positional binding that is missing', 'SELECT * FROM K WHERE a = @2', { positional: [integer(1)] }, invalid],
    ['a positional binding too many', 'SELECT * FROM K', { positional: [integer(1)] }, invalid],
    ['a named binding too many', 'SELECT * FROM K', { named: { x: integer(1) } }, ok],
    ['the binding @0', 'SELECT * FROM K WHERE a = @0', { positional: [integer(1)] }, invalid],
    ['a reserved binding name', 'SELECT * FROM K', { named: { __x__: integer(1) } }, invalid],
    ['a binding name that starts with a digit', 'SELECT * FROM K', { named: { '1x': integer(1) } }, invalid],
    ['an empty text', '', {}, invalid],
    ['an aggregation', 'SELECT COUNT(*) FROM K', {}, invalid],
    ['two inequality properties', 'SELECT a FROM K WHERE a > 1 AND a < 3', {}, ok],
    [
      'a cursor where an integer must stand',
      'SELECT * FROM K LIMIT FIRST(1, @c)',
      { named: { c: integer(1) } },
      invalid,
    ],
    ['a text as a limit', 'SELECT * FROM K LIMIT @n', { named: { n: { value: { stringValue: '1' } } } }, invalid],
    ['an array to be equal to', 'SELECT * FROM K WHERE a = ARRAY(1)', {}, invalid],
    ['IN nothing', 'SELECT * FROM K WHERE a IN ARRAY()', {}, invalid],
    ['NOT IN what is no array', 'SELECT * FROM K WHERE a NOT IN 1', {}, invalid],
    ['an ancestor that is no key', 'SELECT * FROM K WHERE __key__ HAS ANCESTOR 1', {}, invalid],
    ['an ancestor of another property', 'SELECT * FROM K WHERE a HAS ANCESTOR KEY(K, 1)', {}, invalid],
    ['a key with id 0', 'SELECT * FROM K WHERE __key__ = KEY(K, 0)', {}, invalid],
    ['a key of another project', "SELECT * FROM K WHERE __key__ = KEY(PROJECT('o'), K, 1)", {}, invalid],
    ['a value of another project', "SELECT * FROM K WHERE a = KEY(PROJECT('o'), K, 1)", {}, ok],
    ['an empty kind', 'SELECT * FROM ``', {}, invalid],
    ['a property twice', 'SELECT a, a FROM K', {}, invalid],
    ['grouping', 'SELECT a FROM K GROUP BY a', {}, invalid],
  ])('of %s', async (_what, text, options, status) => {
    expect((await call('RunQuery', gql(text, options))).status).toBe(status)
  })
})

describe('RunAggregationQuery', () => {
  interface Aggregated {
    readonly batch: {
      readonly aggregationResults: readonly { readonly aggregateProperties: object }[]
      readonly readTime: string
    }
    readonly query?: unknown
  }

  async function aggregate(json: object): Promise<Aggregated> {
    const { status, message, body } = await call('RunAggregationQuery', json)
    expect(message).toBe('')
    expect(status).toBe(ok)
    return answer<Aggregated>('RunAggregationQuery', body)
  }

  const count = { count: {} }
  const sum = { sum: { property: { name: 'a' } } }
  const avg = { avg: { property: { name: 'a' } } }
  const over = (nestedQuery: object | undefined, ...aggregations: object[]) => ({
    aggregationQuery: { ...(nestedQuery === undefined ? {} : { nestedQuery }), aggregations },
  })

  test('answers one result with a value for each alias', async () => {
    const answered = await aggregate(over({ kind }, { ...count, alias: 'n' }, sum, { ...avg, alias: 'mean' }))
    expect(answered).toEqual({
      batch: {
        aggregationResults: [
          {
            aggregateProperties: {
              n: { integerValue: '4' },
              property_1: { doubleValue: 5.5 },
              mean: { doubleValue: 5.5 / 3 },
            },
          },
        ],
        moreResults: 'NO_MORE_RESULTS',
        readTime: expect.any(String),
      },
    })
  })

  test('answers 0 for the sum and null for the average of nothing', async () => {
    const { batch } = await aggregate(over({ kind: [{ name: 'None' }] }, count, sum, avg))
    expect(batch.aggregationResults[0]?.aggregateProperties).toEqual({
      property_1: { integerValue: '0' },
      property_2: { integerValue: '0' },
      property_3: { nullValue: null },
    })
  })

  test('of GQL carries the query as it was understood', async () => {
    const nestedQuery = { kind, filter: filter('a', 'GREATER_THAN', { integerValue: '0' }) }
    for (const text of [
      'SELECT COUNT(*) AS n, COUNT_UP_TO(1), SUM(a), AVG(a) AS mean FROM K WHERE a > 0',
      'AGGREGATE COUNT(*) AS n, COUNT_UP_TO(1), SUM(a), AVG(a) AS mean OVER (SELECT * FROM K WHERE a > 0)',
    ]) {
      const { batch, query } = await aggregate(gql(text))
      expect(query).toEqual({
        nestedQuery,
        aggregations: [{ ...count, alias: 'n' }, { count: { upTo: '1' } }, sum, { ...avg, alias: 'mean' }],
      })
      expect(batch.aggregationResults[0]?.aggregateProperties).toEqual({
        n: { integerValue: '4' },
        property_1: { integerValue: '1' },
        property_2: { doubleValue: 5.5 },
        mean: { doubleValue: 5.5 / 3 },
      })
    }
    expect((await aggregate(gql('SELECT COUNT_UP_TO(0)'))).query).toEqual({
      nestedQuery: {},
      aggregations: [{ count: { upTo: '0' } }],
    })
  })

  test('begins a transaction when asked to, and reads in it', async () => {
    const begun = await call('RunAggregationQuery', { ...over({ kind }, count), readOptions: { newTransaction: {} } })
    const { transaction } = answer<{ transaction: string }>('RunAggregationQuery', begun.body)
    expect(transaction).toEqual(expect.any(String))
    const again = await call('RunAggregationQuery', { ...over({ kind }, count), readOptions: { transaction } })
    expect(again.status).toBe(ok)
    expect((await call('Rollback', { transaction })).status).toBe(ok)
  })

  const namedSum = (name: string) => ({ sum: { property: { name } } })

  test.each<[string, object, number]>([
    ['no query', {}, invalid],
    ['no aggregations', over({ kind }), invalid],
    ['six aggregations', over({ kind }, count, count, count, count, count, count), invalid],
    ['five aggregations', over({ kind }, count, count, count, count, count), ok],
    ['an alias twice', over({ kind }, { ...count, alias: 'x' }, { ...sum, alias: 'x' }), invalid],
    ['a reserved alias', over({ kind }, { ...count, alias: '__x__' }), invalid],
    ['an alias of 1501 bytes', over({ kind }, { ...count, alias: 'x'.repeat(1501) }), invalid],
    ['a negative up_to', over({ kind }, { count: { upTo: '-1' } }), invalid],
    ['an up_to of 0', over({ kind }, { count: { upTo: '0' } }), ok],
    ['no operator', over({ kind }, {}), invalid],
    ['a sum without a property', over({ kind }, { sum: {} }), invalid],
    ['a sum of an empty name', over({ kind }, namedSum('')), invalid],
    ['a sum of __key__', over({ kind }, namedSum('__key__')), invalid],
    ['a projection', over({ kind, projection: [{ property: { name: 'a' } }] }, count, sum), ok],
    ['a projection of another property', over({ kind, projection: [{ property: { name: 'b' } }] }, sum), invalid],
    ['keys only', over({ kind, projection: [{ property: { name: '__key__' } }] }, sum), invalid],
    ['no nested query', over(undefined, count), ok],
    ['a negative limit', over({ kind, limit: -1 }, count), invalid],
    ['a cursor that is none', over({ kind, startCursor: 'AAAA' }, count), invalid],
    ['GQL that aggregates nothing', gql('SELECT * FROM K'), invalid],
    ['a GQL count', gql('SELECT COUNT(*) FROM K'), ok],
    ['a GQL aggregation over a query', gql('AGGREGATE SUM(a) AS s OVER (SELECT * FROM K ORDER BY a LIMIT 2)'), ok],
    ['GQL with fields beside a count', gql('SELECT a, COUNT(*) FROM K'), invalid],
    ['GQL with six counts', gql(`SELECT ${Array.from({ length: 6 }, () => 'COUNT(*)').join(', ')} FROM K`), invalid],
    ['a GQL literal that is not allowed', gql('SELECT COUNT_UP_TO(1) FROM K', { allowLiterals: false }), invalid],
  ])('of %s', async (_what, json, status) => {
    expect((await call('RunAggregationQuery', json)).status).toBe(status)
  })

  test('serves the public Node client', async () => {
    const asked = datastore
      .createAggregationQuery(datastore.createQuery('K'))
      .addAggregation(AggregateField.count().alias('n'))
      .addAggregation(AggregateField.sum('a').alias('total'))
      .addAggregation(AggregateField.average('a').alias('mean'))
    expect((await datastore.runAggregationQuery(asked))[0]).toEqual([{ n: 4, total: 5.5, mean: 5.5 / 3 }])
  })
})
