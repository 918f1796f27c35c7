import { beforeEach, describe, expect, test } from 'vitest'
import { RecordingLedger, requestContext } from '../context.ts'
import { decodeProperties, encodeKey, encodeProperties } from '../encoding/entity-codec.ts'
import { prettyPath, prettyValue } from '../encoding/pretty.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import type { PathElement } from '../model/key.ts'
import type { Filter, Query } from '../model/query.ts'
import type { Value } from '../model/value.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'

let engine: Engine

async function put(
  path: readonly PathElement[],
  values: Readonly<Record<string, Value>>,
  namespaceId = '',
): Promise<void> {
  const key = encodeKey({ partition: { projectId: 'p', databaseId: '', namespaceId }, path })
  const entity = Buffer.concat([
    Buffer.from([0x0a, key.length]),
    key,
    encodeProperties(new Map(Object.entries(values))),
  ])
  await engine.database('p').commit(engine.context(), {
    mode: 'nonTransactional',
    mutations: [{ operation: 'upsert', entity }],
  })
}

function queryOf(kind: string, more: Partial<Query> = {}): Query {
  const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
  return { partition, kind, projection: [], order: [], distinctOn: [], offset: 0, ...more }
}

async function names(query: Query): Promise<readonly string[]> {
  const { results } = await engine.database('p').runQuery(engine.context(), { query })
  return results.map(({ key }) => prettyPath(key.path))
}

function keyFilter(operator: 'greaterThanOrEqual' | 'lessThan' | 'hasAncestor', path: readonly PathElement[]): Filter {
  const key = { partition: { projectId: 'p', databaseId: '', namespaceId: '' }, path }
  return { type: 'property', property: '__key__', operator, value: { type: 'key', key } }
}

describe('metadata kinds', () => {
  beforeEach(async () => {
    engine = await openEngine({ scheduler: new VirtualClock() })
    await put([{ kind: 'ToDo', id: 1n }], {
      owner: { type: 'string', value: 'ada' },
      done: { type: 'boolean', value: false },
    })
    await put([{ kind: 'ToDo', id: 2n }], {
      owner: { type: 'null' },
      done: { type: 'boolean', value: true },
      note: { type: 'string', value: 'x', excludeFromIndexes: true },
    })
    await put([{ kind: 'User', name: 'ada' }], { at: { type: 'timestamp', micros: 5n } })
    await put([{ kind: 'Other', id: 1n }], {}, 'n1')
  })

  test('namespaces are those that have entities; the default one is id 1', async () => {
    expect(await names(queryOf('__namespace__'))).toEqual(['__namespace__:1', '__namespace__:"n1"'])
  })

  test('kinds are those of the namespace of the query', async () => {
    expect(await names(queryOf('__kind__'))).toEqual(['__kind__:"ToDo"', '__kind__:"User"'])
    const partition = { projectId: 'p', databaseId: '', namespaceId: 'n1' }
    expect(await names(queryOf('__kind__', { partition }))).toEqual(['__kind__:"Other"'])
  })

  test('properties are the indexed ones, with the classes of their values', async () => {
    const { results } = await engine.database('p').runQuery(engine.context(), { query: queryOf('__property__') })
    const found = results.map(({ key, image }) => {
      const value = decodeProperties(image?.properties ?? new Uint8Array()).get('property_representation')
      return `${prettyPath(key.path)} ${value === undefined ? '' : prettyValue(value)}`
    })
    expect(found).toEqual([
      '__kind__:"ToDo"/__property__:"done" ["BOOLEAN"]',
      '__kind__:"ToDo"/__property__:"owner" ["NULL", "STRING"]',
      '__kind__:"User"/__property__:"at" ["INT64"]',
    ])
  })

  test('key ranges, ancestors, limits and cursors are those of every query', async () => {
    const from = keyFilter('greaterThanOrEqual', [{ kind: '__kind__', name: 'U' }])
    expect(await names(queryOf('__kind__', { filter: from }))).toEqual(['__kind__:"User"'])
    const under = keyFilter('hasAncestor', [{ kind: '__kind__', name: 'User' }])
    expect(await names(queryOf('__property__', { filter: under }))).toEqual(['__kind__:"User"/__property__:"at"'])
    const keys = { projection: ['__key__'], limit: 1 }
    const first = await engine.database('p').runQuery(engine.context(), { query: queryOf('__kind__', keys) })
    expect(first).toMatchObject({ resultType: 'keyOnly', moreResults: 'moreResultsAfterLimit' })
    expect(await names(queryOf('__kind__', { ...keys, startCursor: first.endCursor }))).toEqual(['__kind__:"User"'])
  })

  test('a projection below a kind, and one of a key range, need no declared index', async () => {
    const projection = ['property_representation']
    const under = keyFilter('hasAncestor', [{ kind: '__kind__', name: 'ToDo' }])
    const expected = Array.from(['done', 'owner', 'owner'], (name) => `__kind__:"ToDo"/__property__:"${name}"`)
    expect(await names(queryOf('__property__', { filter: under, projection }))).toEqual(expected)
    const path = [
      { kind: '__kind__', name: 'ToDo' },
      { kind: '__property__', name: 'e' },
    ]
    const from = keyFilter('greaterThanOrEqual', path)
    const rest = ['__kind__:"User"/__property__:"at"', ...expected.slice(1)]
    expect((await names(queryOf('__property__', { filter: from, projection }))).toSorted()).toEqual(rest.toSorted())
    expect(engine.database('p').indexes).toEqual([])
  })

  test('a kind goes with its last entity', async () => {
    const key = {
      partition: { projectId: 'p', databaseId: '', namespaceId: '' },
      path: [{ kind: 'User', name: 'ada' }],
    }
    await engine
      .database('p')
      .commit(engine.context(), { mode: 'nonTransactional', mutations: [{ operation: 'delete', key }] })
    expect(await names(queryOf('__kind__'))).toEqual(['__kind__:"ToDo"'])
  })

  test('other filters and orders are refused', async () => {
    const ask = async (query: Query): Promise<unknown> => names(query)
    const filter: Filter = { type: 'property', property: 'x', operator: 'equal', value: { type: 'null' } }
    await expect(ask(queryOf('__kind__', { filter }))).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    const under = keyFilter('hasAncestor', [{ kind: '__kind__', name: 'User' }])
    await expect(ask(queryOf('__kind__', { filter: under }))).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    const order = [{ property: 'x', direction: 'ascending' as const }]
    await expect(ask(queryOf('__namespace__', { order }))).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  test('the cost does not grow with the number of entities', async () => {
    const rowsRead = async (): Promise<number> => {
      const ledger = new RecordingLedger()
      const context = requestContext({ clock: new VirtualClock(), ledger })
      await engine.database('p').runQuery(context, { query: queryOf('__kind__') })
      return ledger.entries.reduce((sum, { rows }) => sum + rows, 0)
    }
    const before = await rowsRead()
    for (let id = 10n; id < 60n; id++) await put([{ kind: 'ToDo', id }], {})
    expect(await rowsRead()).toBe(before)
  })
})
