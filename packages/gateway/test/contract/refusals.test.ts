/**
 * What is refused and what is taken beside the table of errors.test.ts, by code alone: requests as both of Google's emulators
 * answer them (measured), and what is left in the store of a request that is refused in part.
 */

import { type Engine, openEngine } from '@sixtables/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../src/emulator/server.ts'
import type { MethodName } from '../../src/methods.ts'
import { GrpcClient } from '../support/grpc-client.ts'
import { request } from '../support/messages.ts'

const ok = 0
const invalid = 3
const notFound = 5
const exists = 6

let engine: Engine
let gateway: Gateway
let client: GrpcClient

beforeAll(async () => {
  engine = await openEngine()
  gateway = await startGateway({ engine, host: '127.0.0.1', port: 0 })
  client = await GrpcClient.connect(gateway.port)
  await code('Commit', { mode: 'NON_TRANSACTIONAL', mutations: [{ upsert: entity({ name: 'present' }) }] })
})

afterAll(async () => {
  client.close()
  await gateway.close()
  await engine.close()
})

async function code(method: MethodName, json: object): Promise<number | undefined> {
  const { status } = await client.call(method, request(method, { projectId: 'p', ...json }))
  return status
}

type Element = { kind?: string; id?: string; name?: string }

const keyOf = (...path: Element[]) => ({ path: path.map((element) => ({ kind: 'K', ...element })) })
const entity = (...path: Element[]) => ({ key: keyOf(...path), properties: { v: { integerValue: '1' } } })
const commit = (...mutations: object[]) => ({ mode: 'NON_TRANSACTIONAL', mutations })

test.each([
  ['no keys', { keys: [] }, ok],
  ['an unspecified read consistency', { readOptions: { readConsistency: 0 } }, invalid],
  ['an unknown read consistency', { readOptions: { readConsistency: 9 } }, invalid],
  ['an empty transaction', { readOptions: { transaction: '' } }, invalid],
] as [string, object, number][])('a Lookup with %s', async (_name, json, status) => {
  expect(await code('Lookup', json)).toBe(status)
})

describe('commits', () => {
  const version = { upsert: entity({ name: 'versioned' }) }
  test.each([
    ['a single-use transaction in non-transactional mode', { ...commit(), singleUseTransaction: {} }, invalid],
    ['an unknown mode', { mode: 7, singleUseTransaction: {} }, invalid],
    ['an unknown strategy', commit({ ...version, baseVersion: '5', conflictResolutionStrategy: 2 }), invalid],
  ] as [string, object, number][])('with %s', async (_name, json, status) => {
    expect(await code('Commit', json)).toBe(status)
  })

  test('are refused whole when the second mutation is malformed', async () => {
    const good = { upsert: entity({ name: 'unwritten' }) }
    expect(await code('Commit', commit(good, { upsert: entity({ id: '0' }) }))).toBe(invalid)
    expect(await code('Commit', commit({ update: entity({ name: 'unwritten' }) }))).toBe(notFound)
  })

  test('of one by one keep what came before the failure', async () => {
    const mutations = ['first', 'present', 'last'].map((name, i) =>
      i === 1 ? { insert: entity({ name }) } : { upsert: entity({ name }) },
    )
    expect(await code('Commit', commit(...mutations))).toBe(exists)
    expect(await code('Commit', commit({ update: entity({ name: 'first' }) }))).toBe(ok)
    expect(await code('Commit', commit({ update: entity({ name: 'last' }) }))).toBe(notFound)
  })
})

describe('queries', () => {
  const kind = [{ name: 'K' }]
  const filter = (op: string | number) => ({
    propertyFilter: { property: { name: 'v' }, op, value: { integerValue: '1' } },
  })
  const both = { compositeFilter: { op: 'AND', filters: [filter('GREATER_THAN'), filter('LESS_THAN')] } }

  test.each([
    ['a limit of 0', { kind, limit: 0 }, ok],
    ['a filter with an unknown operator', { kind, filter: filter(7) }, invalid],
    ['an order of an unknown direction', { kind, order: [{ property: { name: 'v' }, direction: 5 }] }, invalid],
    ['two inequalities on one property', { kind, filter: both }, ok],
    ['nothing at all', {}, ok],
  ] as [string, object, number][])('with %s', async (_name, query, status) => {
    expect(await code('RunQuery', { query })).toBe(status)
  })

  test('of a partition of another database are refused', async () => {
    expect(await code('RunQuery', { partitionId: { databaseId: 'db2' }, query: { kind } })).toBe(invalid)
  })
})
