/**
 * How a query's results are cut into batches, over each protocol and through Google's own client: 300 results a batch, 1,000
 * passed over, and NOT_FINISHED where more follow.
 *
 * Measured: 300 and NOT_FINISHED on the legacy emulator, NO_MORE_RESULTS at the very last result on the Firestore emulator.
 */
import { Datastore } from '@google-cloud/datastore'
import { type Engine, openEngine } from '@sixtables/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../src/emulator/server.ts'
import type { Plain } from '../support/published-protos.ts'
import { openWire, readAnswer, type Wire, type WireName, wireNames } from '../support/wires.ts'

const count = 1_250
const project = 'batches'

let engine: Engine
let gateway: Gateway
const wires = new Map<WireName, Wire>()

beforeAll(async () => {
  // Without this the client asks the network where it is running.
  process.env['METADATA_SERVER_DETECTION'] = 'none'
  engine = await openEngine()
  gateway = await startGateway({ engine, port: 0 })
  process.env['DATASTORE_EMULATOR_HOST'] = `localhost:${gateway.port}`
  for (const name of wireNames) wires.set(name, await openWire(name, { host: 'localhost', port: gateway.port }))
  const mutations = Array.from({ length: count }, (_, i) => ({
    upsert: { key: { path: [{ kind: 'K', id: String(i + 1) }] }, properties: { n: { integerValue: String(i) } } },
  }))
  await send('gRPC', 'Commit', { mode: 'NON_TRANSACTIONAL', mutations })
})

afterAll(async () => {
  for (const wire of wires.values()) wire.close()
  await gateway.close()
  await engine.close()
})

async function send(name: WireName, method: 'Commit' | 'RunQuery', request: Plain): Promise<Plain> {
  const wire = wires.get(name) as Wire
  const answer = await wire.send(project, method, request)
  expect(answer).toMatchObject({ code: 'OK' })
  return readAnswer(wire, method, answer)
}

const batchOf = async (name: WireName, request: Plain): Promise<Plain> =>
  (await send(name, 'RunQuery', request))['batch'] as Plain

const limit = (value: number): Plain => ({ limit: { value } })
const projection = (name: string): Plain => ({ projection: [{ property: { name } }] })
const from = (n: number): Plain => ({
  filter: {
    propertyFilter: { property: { name: 'n' }, op: 'GREATER_THAN_OR_EQUAL', value: { integerValue: String(n) } },
  },
})

const batches: readonly (readonly [string, Plain, number, number, string])[] = [
  // what, query, results, skipped results, more results
  ['no limit', {}, 300, 0, 'NOT_FINISHED'],
  ['keys only', projection('__key__'), 300, 0, 'NOT_FINISHED'],
  ['a projection', projection('n'), 300, 0, 'NOT_FINISHED'],
  ['a limit of 299', limit(299), 299, 0, 'MORE_RESULTS_AFTER_LIMIT'],
  ['a limit of 300', limit(300), 300, 0, 'MORE_RESULTS_AFTER_LIMIT'],
  ['a limit of 301', limit(301), 300, 0, 'NOT_FINISHED'],
  ['a limit of 0', limit(0), 0, 0, 'MORE_RESULTS_AFTER_LIMIT'],
  ['300 results in all', from(count - 300), 300, 0, 'NO_MORE_RESULTS'],
  ['301 results in all', from(count - 301), 300, 0, 'NOT_FINISHED'],
  ['a limit met by the last result', { ...from(count - 10), ...limit(10) }, 10, 0, 'NO_MORE_RESULTS'],
  ['a limit met by the last but one', { ...from(count - 10), ...limit(9) }, 9, 0, 'MORE_RESULTS_AFTER_LIMIT'],
  ['a limit of 300 met by the last', { ...from(count - 300), ...limit(300) }, 300, 0, 'NO_MORE_RESULTS'],
  ['an offset of 1,000', { offset: 1_000 }, 250, 1_000, 'NO_MORE_RESULTS'],
  ['an offset of 1,001', { offset: 1_001 }, 0, 1_000, 'NOT_FINISHED'],
  ['an offset of 1,001 and a limit', { offset: 1_001, ...limit(5) }, 0, 1_000, 'NOT_FINISHED'],
  ['an offset to the last result', { ...from(count - 10), offset: 9, ...limit(1) }, 1, 9, 'NO_MORE_RESULTS'],
]

describe.each(wireNames)('over %s', (name) => {
  test.each(batches)('%s', async (_what, query, results, skipped, moreResults) => {
    const batch = await batchOf(name, { query: { kind: [{ name: 'K' }], ...query } })
    expect({
      results: ((batch['entityResults'] ?? []) as Plain[]).length,
      skipped: Number(batch['skippedResults'] ?? 0),
      moreResults: batch['moreResults'],
    }).toEqual({ results, skipped, moreResults })
    expect(batch['skippedCursor'] === undefined).toBe(skipped === 0)
  })

  test('GQL', async () => {
    const batch = await batchOf(name, { gqlQuery: { queryString: 'SELECT * FROM K' } })
    expect([(batch['entityResults'] as Plain[]).length, batch['moreResults']]).toEqual([300, 'NOT_FINISHED'])
  })
})

test("Google's client puts batches together: all, up to a limit, and behind a long offset", async () => {
  const datastore = new Datastore({ projectId: project })
  const numbers = async (query: ReturnType<Datastore['createQuery']>) => {
    const [found, { moreResults }] = await datastore.runQuery(query)
    return { found: (found as { n: number }[]).map(({ n }) => n), moreResults }
  }
  const rising = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)
  const query = () => datastore.createQuery('K').order('n')
  expect(await numbers(query())).toEqual({ found: rising(0, count), moreResults: 'NO_MORE_RESULTS' })
  expect(await numbers(query().limit(700))).toMatchObject({ found: rising(0, 700) })
  expect(await numbers(query().offset(1_240))).toMatchObject({ found: rising(1_240, count) })
  expect(await numbers(query().offset(1_100).limit(100))).toMatchObject({ found: rising(1_100, 1_200) })
})
