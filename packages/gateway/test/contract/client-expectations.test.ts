/**
 * What tests of Google's own Node client, run against production, compare whole: answers as their public sources record them
 * (googleapis/nodejs-datastore, system-test/datastore.ts).
 */
import { AggregateField, Datastore, type Transaction } from '@google-cloud/datastore'
import { type Engine, openEngine } from '@sixtables/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../src/emulator/server.ts'

let engine: Engine
let gateway: Gateway
let datastore: Datastore

const father = ['Rickard', 'Character', 'Eddard', 'Character']
const people: readonly (readonly [readonly string[], number])[] = [
  [['Rickard'], 9],
  [['Rickard', 'Character', 'Eddard'], 9],
  [['Catelyn'], 26],
  [[...father, 'Arya'], 33],
  [[...father, 'Sansa'], 31],
  [[...father, 'Robb'], 22],
  [[...father, 'Bran'], 25],
  [[...father, 'Jon Snow'], 32],
]

beforeAll(async () => {
  engine = await openEngine()
  gateway = await startGateway({ engine, host: '127.0.0.1', port: 0 })
  process.env['METADATA_SERVER_DETECTION'] = 'none'
  process.env['DATASTORE_EMULATOR_HOST'] = `127.0.0.1:${gateway.port}`
  datastore = new Datastore({ projectId: 'p', namespace: 'expected' })
  const saved = people.map(([path, appearances]) => ({
    key: datastore.key(['Book', 'GoT', 'Character', ...path]),
    data: { name: path.at(-1), family: 'Stark', appearances },
  }))
  await datastore.save(saved)
})

afterAll(async () => {
  await gateway.close()
  await engine.close()
})

const ofTheBook = () => datastore.createQuery('Character').hasAncestor(datastore.key(['Book', 'GoT']))

/** A client's answer beside its results; its own types leave the metrics out. */
interface Info {
  readonly explainMetrics?: { readonly planSummary?: unknown; readonly executionStats?: Record<string, unknown> }
}

describe('a query that is explained', () => {
  const plan = { indexesUsed: [{ properties: '(__name__ ASC)', query_scope: 'Collection group' }] }
  const stats = {
    resultsReturned: 8,
    executionDuration: expect.anything(),
    readOperations: 8,
    debugStats: {
      documents_scanned: '8',
      index_entries_scanned: '8',
      billing_details: {
        min_query_cost: '0',
        small_ops: '0',
        index_entries_billable: '0',
        documents_billable: '8',
      },
    },
  }

  test.each([
    ['of a kind', () => datastore.createQuery('Character')],
    ['below an ancestor', ofTheBook],
  ])('%s has a plan and statistics with nothing besides', async (_what, query) => {
    const [planned, info] = (await datastore.runQuery(query(), { explainOptions: {} } as never)) as [unknown[], Info]
    expect(planned).toEqual([])
    expect(info.explainMetrics?.planSummary).toEqual(plan)
    expect(info.explainMetrics?.executionStats ?? undefined).toBeUndefined()
    const options = { explainOptions: { analyze: true } } as never
    const [entities, analyzed] = (await datastore.runQuery(query(), options)) as [unknown[], Info]
    expect(entities).toHaveLength(8)
    expect(analyzed.explainMetrics).toEqual({ planSummary: plan, executionStats: stats })
  })
})

describe('an aggregation that is explained', () => {
  test('has the index of the summed property, and is charged by its rows', async () => {
    const aggregation = datastore.createAggregationQuery(ofTheBook()).addAggregation(AggregateField.sum('appearances'))
    const options = { explainOptions: { analyze: true } } as never
    const [sums, info] = (await datastore.runAggregationQuery(aggregation, options)) as [unknown[], Info]
    expect(sums).toEqual([{ property_1: 187 }])
    expect(info.explainMetrics).toEqual({
      planSummary: {
        indexesUsed: [{ properties: '(appearances ASC, __name__ ASC)', query_scope: 'Includes ancestors' }],
      },
      executionStats: {
        resultsReturned: 1,
        executionDuration: expect.anything(),
        readOperations: 1,
        debugStats: {
          documents_scanned: '0',
          index_entries_scanned: '8',
          billing_details: {
            min_query_cost: '0',
            small_ops: '0',
            index_entries_billable: '8',
            documents_billable: '0',
          },
        },
      },
    })
  })
})

describe('a commit', () => {
  const key = () => datastore.key(['Post', 'post1'])

  test('outside of a transaction has results of its transforms, and no time of its own', async () => {
    const [{ commitTime, mutationResults }] = (await datastore.save({
      key: key(),
      data: { p: 5, list: [3, 4, 5] },
      transforms: [
        { property: 'p', increment: 5 },
        { property: 'p', maximum: 8 },
        { property: 'list', appendMissingElements: [5, 6] },
        { property: 'list', removeAllFromArray: [3] },
      ],
    } as never)) as unknown as [{ commitTime: unknown; mutationResults: Record<string, unknown>[] }]
    expect(commitTime).toBeNull()
    const flags = { meaning: 0, excludeFromIndexes: false }
    const nothing = { ...flags, nullValue: 'NULL_VALUE', valueType: 'nullValue' }
    const ten = { ...flags, integerValue: '10', valueType: 'integerValue' }
    expect(mutationResults).toMatchObject([
      { key: null, conflictDetected: false, transformResults: [ten, ten, nothing, nothing] },
    ])
    const [entity] = await datastore.get(key())
    expect(entity).toMatchObject({ p: 10, list: [4, 5, 6] })
  })

  test('of a transaction has a time', async () => {
    const transaction: Transaction = datastore.transaction()
    await transaction.run()
    transaction.save({ key: key(), data: { p: 1 } })
    const [{ commitTime }] = (await transaction.commit()) as [{ commitTime: unknown }]
    expect(commitTime).toMatchObject({ seconds: expect.anything() })
  })
})
