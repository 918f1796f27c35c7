/**
 * What is refused and what is taken, by code alone: requests as both of Google's emulators answer them (measured), through the
 * whole of gateway and engine. Where the two differ, the newer one is followed.
 */
import { type Engine, openEngine } from '@sixtables/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MethodName } from '../../src/call.ts'
import { type Gateway, startGateway } from '../../src/server.ts'
import { GrpcClient } from '../support/grpc-client.ts'
import { request } from '../support/messages.ts'

const ok = 0
const invalid = 3
const notFound = 5
const exists = 6
const failedPrecondition = 9

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
const atomic = (...mutations: object[]) => ({ mode: 'TRANSACTIONAL', singleUseTransaction: {}, mutations })
const path = (length: number) => keyOf(...Array.from({ length }, () => ({ name: 'n' })))

describe('keys', () => {
  const cases: [string, object, number, number][] = [
    // what, key, Commit, Lookup
    ['with an empty path', { path: [] }, invalid, invalid],
    ['with an empty kind', { path: [{ kind: '', name: 'n' }] }, invalid, invalid],
    ['with id 0', keyOf({ id: '0' }), invalid, invalid],
    ['with a negative id', keyOf({ id: '-5' }), ok, ok],
    ['with an empty name', keyOf({ name: '' }), invalid, invalid],
    ['with a name of 1500 bytes', keyOf({ name: 'n'.repeat(1500) }), ok, ok],
    ['with a name of 1501 bytes', keyOf({ name: 'n'.repeat(1501) }), invalid, invalid],
    ['with a kind of 1501 bytes', keyOf({ kind: 'k'.repeat(1501), name: 'n' }), invalid, invalid],
    ['of a reserved kind', keyOf({ kind: '__x__', name: 'n' }), invalid, ok],
    ['of a statistics kind', keyOf({ kind: '__Stat_Kind__', name: 'n' }), invalid, ok],
    ['with a reserved name', keyOf({ name: '__n__' }), invalid, ok],
    ['with an incomplete ancestor', keyOf({}, { name: 'n' }), invalid, invalid],
    ['of depth 100', path(100), ok, ok],
    ['of depth 101', path(101), invalid, invalid],
    [
      'in a namespace with bad letters',
      { partitionId: { namespaceId: 'a b' }, ...keyOf({ name: 'n' }) },
      invalid,
      invalid,
    ],
    [
      'in a namespace of 101 letters',
      { partitionId: { namespaceId: 'n'.repeat(101) }, ...keyOf({ name: 'n' }) },
      invalid,
      invalid,
    ],
    ['in a reserved namespace', { partitionId: { namespaceId: '__a__' }, ...keyOf({ name: 'n' }) }, invalid, ok],
    ['of another project', { partitionId: { projectId: 'q' }, ...keyOf({ name: 'n' }) }, invalid, invalid],
    [
      'of the database "(default)"',
      { partitionId: { databaseId: '(default)' }, ...keyOf({ name: 'n' }) },
      invalid,
      invalid,
    ],
    ['of another database', { partitionId: { databaseId: 'db2' }, ...keyOf({ name: 'n' }) }, invalid, invalid],
    ['without a partition', keyOf({ name: 'n' }), ok, ok],
  ]
  test.each(cases)('%s', async (_name, key, committed, lookedUp) => {
    expect(await code('Commit', commit({ upsert: { key } }))).toBe(committed)
    expect(await code('Lookup', { keys: [key] })).toBe(lookedUp)
  })

  test.each([
    ['an incomplete key in a Lookup', 'Lookup', { keys: [keyOf({})] }],
    ['an update of an incomplete key', 'Commit', commit({ update: entity({}) })],
    ['a delete of an incomplete key', 'Commit', commit({ delete: keyOf({}) })],
    ['an entity without a key', 'Commit', commit({ upsert: { properties: {} } })],
  ] as [string, MethodName, object][])('%s is refused', async (_name, method, json) => {
    expect(await code(method, json)).toBe(invalid)
  })
})

describe('requests', () => {
  test.each([
    ['a project that is missing', { projectId: '' }, invalid],
    ['a project with bad letters', { projectId: 'a/b' }, invalid],
    ['a named database', { databaseId: 'db2' }, ok],
    ['the database "(default)"', { databaseId: '(default)' }, invalid],
    ['no keys', { keys: [] }, ok],
    ['a key twice', { keys: [keyOf({ name: 'x' }), keyOf({ name: 'x' })] }, ok],
    ['an unspecified read consistency', { readOptions: { readConsistency: 0 } }, invalid],
    ['an unknown read consistency', { readOptions: { readConsistency: 9 } }, invalid],
    ['a read time finer than microseconds', { readOptions: { readTime: '2020-01-01T00:00:00.000000001Z' } }, invalid],
    ['an empty transaction', { readOptions: { transaction: '' } }, invalid],
  ] as [string, object, number][])('for a Lookup with %s', async (_name, json, status) => {
    expect(await code('Lookup', json)).toBe(status)
  })
})

describe('commits', () => {
  const version = { upsert: entity({ name: 'versioned' }) }
  test.each([
    ['an empty mutation', commit({}), invalid],
    ['no mutations', commit(), ok],
    ['an unspecified mode and no transaction', { mutations: [] }, invalid],
    ['no transaction in transactional mode', { mode: 'TRANSACTIONAL', mutations: [] }, invalid],
    ['an empty transaction', { mode: 'TRANSACTIONAL', transaction: '' }, invalid],
    ['a transaction in non-transactional mode', { ...commit(), transaction: 'EQEAAAAAAAAA' }, invalid],
    ['a single-use transaction in non-transactional mode', { ...commit(), singleUseTransaction: {} }, invalid],
    ['a read-only single-use transaction', { mode: 'TRANSACTIONAL', singleUseTransaction: { readOnly: {} } }, invalid],
    ['an unknown mode', { mode: 7, singleUseTransaction: {} }, invalid],
    ['one key twice', commit({ upsert: entity({ name: 'x' }) }, { upsert: entity({ name: 'x' }) }), invalid],
    [
      'one key upserted and deleted',
      commit({ upsert: entity({ name: 'x' }) }, { delete: keyOf({ name: 'x' }) }),
      invalid,
    ],
    ['an insert of what is there', commit({ insert: entity({ name: 'present' }) }), exists],
    ['an update of what is not there', commit({ update: entity({ name: 'absent' }) }), notFound],
    ['an atomic insert of what is there', atomic({ insert: entity({ name: 'present' }) }), exists],
    ['an atomic update of what is not there', atomic({ update: entity({ name: 'absent' }) }), notFound],
    ['two inserts of one key', atomic({ insert: entity({ name: 'y' }) }, { insert: entity({ name: 'y' }) }), invalid],
    [
      'a delete and an insert of one key',
      atomic({ delete: keyOf({ name: 'z' }) }, { insert: entity({ name: 'z' }) }),
      ok,
    ],
    ['a base version that differs', commit({ ...version, baseVersion: '5' }), ok],
    ['a negative base version', commit({ ...version, baseVersion: '-1' }), invalid],
    ['a base version on an incomplete key', commit({ upsert: entity({}), baseVersion: '5' }), invalid],
    [
      'a base version that must not differ',
      commit({ upsert: entity({ name: 'present' }), baseVersion: '5', conflictResolutionStrategy: 'FAIL' }),
      failedPrecondition,
    ],
    ['a strategy without a version', commit({ ...version, conflictResolutionStrategy: 'FAIL' }), invalid],
    ['an unknown strategy', commit({ ...version, baseVersion: '5', conflictResolutionStrategy: 2 }), invalid],
    ['501 mutations', commit(...Array.from({ length: 501 }, (_, i) => ({ upsert: entity({ id: `${i + 1}` }) }))), ok],
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
  const value = { integerValue: '1' }
  const filter = (op: string | number, property = 'v', operand: object = value) => ({
    propertyFilter: { property: { name: property }, op, value: operand },
  })
  const composite = (op: string | number, ...filters: object[]) => ({ compositeFilter: { op, filters } })
  const order = (name: string, direction: string | number = 'ASCENDING') => ({ property: { name }, direction })
  const projection = (...names: string[]) => names.map((name) => ({ property: { name } }))
  const ancestor = { keyValue: keyOf({ name: 'present' }) }

  test.each([
    ['two kinds', { kind: [{ name: 'A' }, { name: 'B' }] }, invalid],
    ['an empty kind', { kind: [{ name: '' }] }, invalid],
    ['a reserved kind', { kind: [{ name: '__foo__' }] }, ok],
    ['a negative limit', { kind, limit: -1 }, invalid],
    ['a negative offset', { kind, offset: -1 }, invalid],
    ['a limit of 0', { kind, limit: 0 }, ok],
    ['a cursor that is none', { kind, startCursor: 'AAAA' }, invalid],
    ['a filter and no kind', { filter: filter('EQUAL') }, invalid],
    ['an order and no kind', { order: [order('v')] }, invalid],
    ['a property projected twice', { kind, projection: projection('v', 'v') }, invalid],
    ['a projected property with an equality', { kind, projection: projection('v'), filter: filter('EQUAL') }, invalid],
    ['a filter without an operator', { kind, filter: filter(0) }, invalid],
    ['a filter with an unknown operator', { kind, filter: filter(7) }, invalid],
    ['a composite filter without filters', { kind, filter: composite('AND') }, invalid],
    ['a composite filter without an operator', { kind, filter: composite(0, filter('EQUAL')) }, invalid],
    ['an empty filter', { kind, filter: {} }, invalid],
    ['a filter value without a type', { kind, filter: filter('EQUAL', 'v', {}) }, invalid],
    [
      'a filter value that is not indexed',
      { kind, filter: filter('EQUAL', 'v', { ...value, excludeFromIndexes: true }) },
      invalid,
    ],
    ['an array to be equal to', { kind, filter: filter('EQUAL', 'v', { arrayValue: { values: [value] } }) }, invalid],
    ['a __key__ that is no key', { kind, filter: filter('EQUAL', '__key__') }, invalid],
    ['an incomplete key', { kind, filter: filter('EQUAL', '__key__', { keyValue: keyOf({}) }) }, invalid],
    ['an ancestor on another property', { kind, filter: filter('HAS_ANCESTOR', 'v', ancestor) }, invalid],
    ['an ancestor that is no key', { kind, filter: filter('HAS_ANCESTOR', '__key__') }, invalid],
    ['IN nothing', { kind, filter: filter('IN', 'v', { arrayValue: {} }) }, invalid],
    ['IN what is no array', { kind, filter: filter('IN') }, invalid],
    [
      'IN 31 values',
      {
        kind,
        filter: filter('IN', 'v', {
          arrayValue: { values: Array.from({ length: 31 }, (_, i) => ({ integerValue: `${i}` })) },
        }),
      },
      invalid,
    ],
    ['an order without a property', { kind, order: [order('')] }, invalid],
    ['an order without a direction', { kind, order: [order('v', 0)] }, ok],
    ['an order of an unknown direction', { kind, order: [order('v', 5)] }, invalid],
    [
      'two inequalities on one property',
      { kind, filter: composite('AND', filter('GREATER_THAN'), filter('LESS_THAN')) },
      ok,
    ],
    ['nothing at all', {}, ok],
  ] as [string, object, number][])('with %s', async (_name, query, status) => {
    expect(await code('RunQuery', { query })).toBe(status)
  })

  test.each([
    ['no query', {}, invalid],
    ['a partition of another project', { partitionId: { projectId: 'q' }, query: { kind } }, invalid],
    ['a partition of another database', { partitionId: { databaseId: 'db2' }, query: { kind } }, invalid],
    ['a bad namespace', { partitionId: { namespaceId: 'a b' }, query: { kind } }, invalid],
    ['an unspecified read consistency', { readOptions: { readConsistency: 0 }, query: { kind } }, invalid],
    ['an empty transaction', { readOptions: { transaction: '' }, query: { kind } }, invalid],
  ] as [string, object, number][])('in a request with %s', async (_name, json, status) => {
    expect(await code('RunQuery', json)).toBe(status)
  })
})

describe('ids', () => {
  test.each([
    ['AllocateIds', 'a complete key', [keyOf({ id: '1' })], invalid],
    ['AllocateIds', 'a named key', [keyOf({ name: 'n' })], invalid],
    ['AllocateIds', 'no keys', [], ok],
    ['AllocateIds', 'a reserved kind', [{ path: [{ kind: '__x__' }] }], invalid],
    ['AllocateIds', '501 keys', Array.from({ length: 501 }, () => keyOf({})), ok],
    ['ReserveIds', 'an incomplete key', [keyOf({})], invalid],
    ['ReserveIds', 'a named key', [keyOf({ name: 'n' })], ok],
    ['ReserveIds', 'an id of 2^62', [keyOf({ id: String(2n ** 62n) })], ok],
    ['ReserveIds', 'a negative id', [keyOf({ id: '-5' })], ok],
  ] as [MethodName, string, object[], number][])('%s of %s', async (method, _name, keys, status) => {
    expect(await code(method, { keys })).toBe(status)
  })
})
