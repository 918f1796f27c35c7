/**
 * Every kind of query, in random variations, against brute force (query-model.ts): the whole list, in pages of every size
 * through cursors, keys only, with offset and limit, between cursors, and from a store that answers by promise.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { RecordingLedger, requestContext } from '../../src/context.ts'
import { execute } from '../../src/executor/execute.ts'
import type { ResultPage } from '../../src/executor/result-page.ts'
import { windowOf } from '../../src/executor/window.ts'
import type { IndexDefinition } from '../../src/model/index-definition.ts'
import { formatKey } from '../../src/model/key.ts'
import type { Query } from '../../src/model/query.ts'
import type { Value } from '../../src/model/value.ts'
import { planText, planTree } from '../../src/planner/explain.ts'
import type { Plan } from '../../src/planner/plan-node.ts'
import { KvTableView, type TableView } from '../../src/tables/table.ts'
import { AsyncKv } from '../../src/testing/async-kv.ts'
import { imageOf, type ModelEntity, storeOf } from '../../src/testing/query-world.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import {
  entityLists,
  joinQueries,
  keyFirstQueries,
  keyOrderedQueries,
  kindlessQueries,
  oneColumnQueries,
  spareIndexes,
  wideQueries,
} from './query-arbitraries.ts'
import { answer } from './query-model.ts'
import { expectedWords, isRefused, orderOf, planWithIndexes, runPlan, singleValued, words } from './query-plans.ts'

const numRuns = runs(30)

interface Case {
  readonly query: Query
  readonly planned: Plan
  readonly view: TableView
  readonly expected: string[]
}

function runPage(
  { query, planned, view }: Case,
  asked: Partial<Query> = {},
  limits: Parameters<typeof windowOf>[2] = {},
): ResultPage {
  return runPlan(view, planned, { ...query, ...asked }, limits)
}

/** All results, page by page. */
function paged(given: Case, asked: Partial<Query>, limits: Parameters<typeof windowOf>[2]): string[] {
  const all: string[] = []
  let start = asked.startCursor
  for (let pages = 0; pages < 200; pages++) {
    const page = runPage(given, { ...asked, ...(start === undefined ? {} : { startCursor: start }) }, limits)
    all.push(...page.results.map(words))
    if (page.moreResults === 'noMoreResults') return all
    if (page.moreResults === 'moreResultsAfterLimit') expect(page.results.length).toBe(asked.limit)
    expect(all.length).toBeLessThan(given.expected.length)
    start = page.endCursor
  }
  throw new Error('paging does not end')
}

/** The same cursor with its place (executor/cursor.ts) just before the result: on the other side of its position. */
function justBefore(cursor: Uint8Array): Uint8Array {
  return Uint8Array.from(cursor, (byte, i) => (i === 1 ? 3 - byte : byte))
}

function check(entities: readonly ModelEntity[], query: Query, spare: readonly IndexDefinition[], size: number): void {
  // What the language refuses is the business of normalize.test.ts.
  fc.pre(!isRefused(query))
  const { planned, indexes } = planWithIndexes(query, spare)
  expect(JSON.parse(JSON.stringify(planned))).toBeTruthy()
  expect(planText(planTree(planned))).not.toBe('')
  const view = new KvTableView(storeOf(entities, indexes))
  const expected = expectedWords(query, answer(entities, query, orderOf(query, planned)), planned)
  const given: Case = { query, planned, view, expected }

  const whole = runPage(given)
  expect(whole.results.map(words)).toEqual(expected)
  expect(whole.moreResults).toBe('noMoreResults')
  if (whole.resultType === 'full') {
    for (const { key, image } of whole.results) {
      const entity = entities.find(
        (each) =>
          formatKey(each.key) === formatKey(key) && each.key.partition.namespaceId === key.partition.namespaceId,
      )
      const { version, createTime, updateTime, properties } = image ?? {}
      expect({ version, createTime, updateTime, properties }).toEqual(entity && imageOf(entity))
    }
  }

  expect(paged(given, { limit: size }, {})).toEqual(expected)
  expect(paged(given, {}, { resultsMax: size })).toEqual(expected)
  expect(paged(given, {}, { resultBytesMax: 1 })).toEqual(expected)

  const page = runPage(given, { offset: size, limit: 2 })
  expect(page.results.map(words)).toEqual(expected.slice(size, size + 2))
  expect(page.skipped).toBe(Math.min(size, expected.length))

  const middle = whole.results[size]
  if (middle !== undefined) {
    const rest = runPage(given, { startCursor: middle.cursor })
    expect(rest.results.map(words)).toEqual(expected.slice(size + 1))
    const begin = runPage(given, { endCursor: middle.cursor })
    expect(begin.results.map(words)).toEqual(expected.slice(0, size + 1))
    const same = runPage(given, { startCursor: justBefore(middle.cursor) })
    expect(same.results.map(words)).toEqual(expected.slice(size))
    const less = runPage(given, { endCursor: justBefore(middle.cursor) })
    expect(less.results.map(words)).toEqual(expected.slice(0, size))
    expect(begin.moreResults).toBe(expected.length > size + 1 ? 'moreResultsAfterCursor' : 'noMoreResults')
  }
}

async function checkSlow(
  entities: readonly ModelEntity[],
  query: Query,
  spare: readonly IndexDefinition[],
): Promise<void> {
  fc.pre(!isRefused(query))
  const { planned, indexes } = planWithIndexes(query, spare)
  const view = new KvTableView(new AsyncKv(storeOf(entities, indexes)))
  const context = requestContext({ clock: new VirtualClock() })
  const page = await execute({ context, view, plan: planned }, windowOf({ ...query, offset: 1 }, planned, {}))
  expect(page.results.map(words)).toEqual(
    expectedWords(query, answer(entities, query, orderOf(query, planned)), planned).slice(1),
  )
}

const sizes = fc.integer({ min: 1, max: 5 })

test.each([
  ['kindless queries', kindlessQueries],
  ['queries in key order', keyOrderedQueries],
  ['joins of equalities', joinQueries],
  ['queries over one column', oneColumnQueries],
  ['queries of the whole language', wideQueries],
  ['queries with the key before other orders', keyFirstQueries],
])('%s answer what brute force does', (_, queries) => {
  fc.assert(fc.property(entityLists, queries, spareIndexes, sizes, check), { numRuns })
})

test('a cursor just before a row that is read backwards, with a column behind its key, keeps the row', () => {
  const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
  const numbers = (...values: readonly bigint[]): Value => ({
    type: 'array',
    values: values.map((value) => ({ type: 'integer', value })),
  })
  const properties = new Map<string, Value>([
    ['p', numbers(0n, 1n)],
    ['q', { type: 'double', value: 1 }],
    ['r', numbers(0n, 2n)],
  ])
  const query: Query = {
    partition,
    kind: 'A',
    projection: ['q'],
    filter: { type: 'property', property: 'r', operator: 'equal', value: { type: 'integer', value: 0n } },
    order: [
      { property: 'p', direction: 'ascending' },
      { property: '__key__', direction: 'descending' },
    ],
    distinctOn: [],
    offset: 0,
  }
  check([{ key: { partition, path: [{ kind: 'A', name: 'a' }] }, properties }], query, [], 1)
})

test('an ancestor is among its own results where its keys are read from an index in descending order', () => {
  const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
  const key = { partition, path: [{ kind: 'A', id: 1n }] }
  const one: Value = { type: 'integer', value: 1n }
  const query: Query = {
    partition,
    kind: 'A',
    projection: [],
    filter: {
      type: 'composite',
      operator: 'and',
      filters: [
        { type: 'property', property: '__key__', operator: 'hasAncestor', value: { type: 'key', key } },
        { type: 'property', property: 'q', operator: 'equal', value: one },
        { type: 'property', property: 'r', operator: 'equal', value: one },
      ],
    },
    order: [],
    distinctOn: [],
    offset: 0,
  }
  const properties = ['q', 'r', '__key__'].map((name) => {
    return { name, direction: name === '__key__' ? ('descending' as const) : ('ascending' as const) }
  })
  const entity = new Map<string, Value>([
    ['q', one],
    ['r', one],
  ])
  check([{ key, properties: entity }], query, [{ kind: 'A', ancestor: false, properties }], 1)
})

test('keys-only queries give the keys of the full query', () => {
  fc.assert(
    fc.property(entityLists, fc.oneof(keyOrderedQueries, oneColumnQueries), sizes, (entities, query, size) => {
      check(entities, { ...query, projection: ['__key__'] }, [], size)
    }),
    { numRuns },
  )
})

test('a store that answers by promise gives the same', async () => {
  await fc.assert(
    fc.asyncProperty(entityLists, fc.oneof(keyOrderedQueries, wideQueries, keyFirstQueries), spareIndexes, checkSlow),
    {
      numRuns,
    },
  )
})

test('rows read are those of the result and one more, where no join or filter is needed', () => {
  fc.assert(
    fc.property(entityLists, fc.oneof(kindlessQueries, oneColumnQueries), sizes, (entities, query, limit) => {
      fc.pre(!isRefused(query))
      const { planned } = planWithIndexes(query, [])
      if (planned.source.type !== 'scan' || planned.source.spans.length > 1) return
      const ledger = new RecordingLedger()
      const context = requestContext({ clock: new VirtualClock(), ledger })
      const view = new KvTableView(storeOf(entities.filter(singleValued), []))
      expect(execute({ context, view, plan: planned }, windowOf({ ...query, limit }, planned))).not.toBeInstanceOf(
        Promise,
      )
      const scanned = ledger.entries
        .filter(({ operation }) => operation === 'scan')
        .reduce((sum, { rows }) => sum + rows, 0)
      expect(scanned).toBeLessThanOrEqual(limit + 1)
    }),
    { numRuns },
  )
})

test('no scan reads a row twice, whatever is joined, merged, sought or paged', () => {
  fc.assert(
    fc.property(
      entityLists,
      fc.oneof(joinQueries, keyOrderedQueries, wideQueries),
      spareIndexes,
      (entities, query, spare) => {
        fc.pre(!isRefused(query))
        const { planned, indexes } = planWithIndexes(query, spare)
        const view = onceOnly(new KvTableView(storeOf(entities, indexes)))
        const context = requestContext({ clock: new VirtualClock() })
        expect(execute({ context, view, plan: planned }, windowOf(query, planned))).not.toBeInstanceOf(Promise)
      },
    ),
    { numRuns },
  )
})

/** Checks that the rows of each scan, over all its seeks, go strictly on. */
function onceOnly(view: TableView): TableView {
  return {
    get: (context, table, rowKey) => view.get(context, table, rowKey),
    scan(context, table, range, options) {
      const scan = view.scan(context, table, range, options)
      let last: string | undefined
      return {
        next(count) {
          const rows = scan.next(count) as readonly { key: string; value: Uint8Array }[]
          for (const { key } of rows) {
            if (last !== undefined) expect(options?.reverse ? key < last : key > last).toBe(true)
            last = key
          }
          return rows
        },
        seek: (key) => scan.seek(key),
        close: () => scan.close(),
      }
    },
  }
}
