/** Query Explain over each protocol: metrics beside the answer, and without analyze nothing else. */

import { type Engine, openEngine } from '@sixtables/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addEngineRoutes } from '../../src/admin/emulator/engine-routes.ts'
import { type Gateway, startGateway } from '../../src/emulator/server.ts'
import type { MethodName } from '../../src/methods.ts'
import type { Plain } from '../support/published-protos.ts'
import { openWire, readAnswer, type Wire, wireNames } from '../support/wires.ts'
import { commit, entity, named, string } from './errors/row.ts'

let engine: Engine
let gateway: Gateway

beforeAll(async () => {
  engine = await openEngine()
  gateway = await startGateway({
    engine,
    host: '127.0.0.1',
    port: 0,
    routes: (router) => addEngineRoutes(router, engine),
  })
})

afterAll(async () => {
  await gateway.close()
  await engine.close()
})

const ofAda = {
  kind: [{ name: 'K' }],
  filter: { propertyFilter: { property: { name: 'owner' }, op: 'EQUAL', value: string('ada') } },
}
const indexes = [
  {
    query_scope: 'Collection group',
    properties: '(owner ASC, __name__ ASC)',
  },
]

/** A Struct as a plain object: JSON has it so already. */
function plainStruct(struct: Plain | undefined): Plain {
  const fields = struct?.['fields'] as Record<string, { stringValue: string; structValue: Plain }> | undefined
  if (fields === undefined) return struct ?? {}
  return Object.fromEntries(
    Object.entries(fields).map(([name, { stringValue, structValue }]) => [
      name,
      structValue === undefined || structValue === null ? stringValue : plainStruct(structValue),
    ]),
  )
}

interface Metrics {
  readonly planSummary: { readonly indexesUsed: readonly Plain[] }
  readonly executionStats?: {
    resultsReturned: unknown
    readOperations: unknown
    executionDuration: unknown
    debugStats: Plain
  }
}

describe.each(wireNames)('over %s', (name) => {
  let wire: Wire

  beforeAll(async () => {
    wire = await openWire(name, { host: '127.0.0.1', port: gateway.port })
    const rows = ['ada', 'ada', 'bob'].map((owner, i) => ({ upsert: entity(named(`e${i}`), { owner: string(owner) }) }))
    expect(await wire.send('p', 'Commit', commit(...rows))).toMatchObject({ code: 'OK' })
  })

  afterAll(() => wire.close())

  async function explained(
    method: MethodName,
    request: Plain,
    analyze: boolean,
  ): Promise<Plain & { metrics: Metrics }> {
    const sent = await wire.send('p', method, { ...request, explainOptions: { analyze } })
    expect(sent).toMatchObject({ code: 'OK', message: '' })
    const answer = readAnswer(wire, method, sent)
    return { ...answer, metrics: answer['explainMetrics'] as Metrics }
  }

  test('without analyze there is a plan and no batch', async () => {
    for (const [method, request] of [
      ['RunQuery', { query: ofAda }],
      ['RunAggregationQuery', { aggregationQuery: { nestedQuery: ofAda, aggregations: [{ count: {} }] } }],
    ] as const) {
      const { batch, metrics } = (await explained(method, request, false)) as { batch?: Plain; metrics: Metrics }
      expect(batch ?? undefined).toBeUndefined()
      expect(metrics.executionStats ?? undefined).toBeUndefined()
      expect(metrics.planSummary.indexesUsed.map(plainStruct)).toEqual(indexes)
    }
  })

  test('with analyze the results come with their metrics', async () => {
    const { batch, metrics } = await explained('RunQuery', { query: ofAda }, true)
    expect((batch as { entityResults: unknown[] }).entityResults).toHaveLength(2)
    expect(metrics.planSummary.indexesUsed.map(plainStruct)).toEqual(indexes)
    const { executionStats: stats } = metrics
    expect([String(stats?.resultsReturned), String(stats?.readOperations)]).toEqual(['2', '2'])
    expect(stats?.executionDuration).toBeTruthy()
    expect(plainStruct(stats?.debugStats)).toEqual({
      index_entries_scanned: '2',
      documents_scanned: '2',
      billing_details: {
        documents_billable: '2',
        index_entries_billable: '0',
        small_ops: '0',
        min_query_cost: '0',
      },
    })
  })

  test('an aggregation comes with its metrics', async () => {
    const aggregationQuery = { nestedQuery: ofAda, aggregations: [{ alias: 'n', count: {} }] }
    const { batch, metrics } = await explained('RunAggregationQuery', { aggregationQuery }, true)
    expect(JSON.stringify(batch)).toContain('"n"')
    expect(String(metrics.executionStats?.resultsReturned)).toBe('1')
  })
})

describe('POST /emulator/explain', () => {
  const send = async (method: string, path: string, body: Plain): Promise<Plain> => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`http://127.0.0.1:${gateway.port}${path}`, {
      method,
      headers,
      body: JSON.stringify(body),
    })
    return (await answer.json()) as Plain
  }
  const explain = (asked: Plain): Promise<Plain> => send('POST', '/emulator/explain', { project: 'q', ...asked })

  test('tells the plan as lines and as a tree, and with analyze the rows read of each table', async () => {
    await send('POST', '/v1/projects/q:commit', commit({ upsert: entity(named('e'), { owner: string('ada') }) }))
    const gql = "SELECT * FROM K WHERE owner = 'ada' AND done = FALSE"
    const scan = { type: 'scan', table: 'EntitiesByPropertyAsc', inputs: [] }
    const tree = {
      source: {
        type: 'mergeJoin',
        words: 'mergeJoin by __key__',
        inputs: [
          { ...scan, words: 'scan EntitiesByPropertyAsc K: done = false' },
          { ...scan, words: 'scan EntitiesByPropertyAsc K: owner = "ada"' },
        ],
      },
      results: ['give entities, by key'],
    }
    const planned = await explain({ gql })
    expect(planned).toMatchObject({ tree })
    expect(planned['plan']).toEqual([
      'mergeJoin by __key__',
      '  scan EntitiesByPropertyAsc K: done = false',
      '  scan EntitiesByPropertyAsc K: owner = "ada"',
      'give entities, by key',
    ])
    expect(planned).not.toHaveProperty('stats')
    expect(await explain({ gql: "SELECT * FROM K WHERE owner = 'ada'", analyze: true })).toMatchObject({
      stats: { resultsReturned: 1, rowsRead: { EntitiesByPropertyAsc: 1, Entities: 1 }, billing: { documents: 1 } },
    })
    expect(await explain({ gql, analyze: 'yes' })).toMatchObject({ error: { message: 'analyze is true or false' } })
  })

  test('tells the index that a query lacks, ready for index.yaml', async () => {
    engine.database('q').configure({ indexes: 'require' })
    expect(await explain({ gql: "SELECT * FROM K WHERE owner = 'ada' ORDER BY due DESC" })).toEqual({
      plan: [],
      indexesUsed: [],
      missingIndex: {
        index: 'K(owner, due desc)',
        yaml: ['- kind: "K"', '  properties:', '  - name: "owner"', '  - name: "due"', '    direction: desc', ''].join(
          '\n',
        ),
      },
    })
  })
})
