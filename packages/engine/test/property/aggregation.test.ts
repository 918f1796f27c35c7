/**
 * Every kind of query under random aggregations, against brute force: the rows of the query, or of its projection of the
 * aggregated properties, come from query-model.ts; what is added up there is added up here with bigints.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { type RequestContext, requestContext } from '../../src/context.ts'
import { aggregatedRead } from '../../src/database/aggregation.ts'
import type { Aggregation } from '../../src/database/api.ts'
import { DatastoreError } from '../../src/errors.ts'
import { shapeOfCursors } from '../../src/executor/cursor.ts'
import { windowOf } from '../../src/executor/window.ts'
import type { MaybePromise } from '../../src/maybe-promise.ts'
import { planSpecial } from '../../src/metadata/special-kinds.ts'
import type { CompositeIndex } from '../../src/model/index-definition.ts'
import type { Filter, Query } from '../../src/model/query.ts'
import type { IndexableValue, Value } from '../../src/model/value.ts'
import { MissingIndexError } from '../../src/planner/missing-index.ts'
import type { Plan } from '../../src/planner/plan-node.ts'
import { KvTableView, type TableView } from '../../src/tables/table.ts'
import { AsyncKv } from '../../src/testing/async-kv.ts'
import { atOnce } from '../../src/testing/at-once.ts'
import { type ModelEntity, storeOf } from '../../src/testing/query-world.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { compareValues } from './model-order.ts'
import {
  database,
  entityLists,
  joinQueries,
  keyFirstQueries,
  keyOrderedQueries,
  kindlessQueries,
  oneColumnQueries,
  wideQueries,
} from './query-arbitraries.ts'
import { answer } from './query-model.ts'

const aggregation: fc.Arbitrary<Aggregation> = fc.oneof(
  fc.record({
    operator: fc.constant('count' as const),
    upTo: fc.option(fc.bigInt({ min: 0n, max: 20n }), { nil: undefined }),
  }),
  fc.record({ operator: fc.constantFrom('sum' as const, 'avg' as const), property: fc.constantFrom('p', 'p', 'q') }),
)

const aggregations = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.array(
      aggregation.filter(({ operator }) => operator === 'count'),
      { minLength: 1, maxLength: 3 },
    ),
  },
  { weight: 2, arbitrary: fc.array(aggregation, { minLength: 1, maxLength: 5 }) },
)

const windows = fc.record({
  limit: fc.option(fc.integer({ min: 0, max: 25 }), { nil: undefined }),
  offset: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 0, max: 9 }) }),
})

const propertiesOf = (asked: readonly Aggregation[]): readonly string[] => [
  ...new Set(asked.flatMap((each) => (each.operator === 'count' ? [] : [each.property]))),
]

const leaf = (filter: Filter, property: string) =>
  filter.type === 'property' && filter.property === property ? filter : undefined

/** Values that the property must equal whatever part of an OR holds. */
function fixedValues(filter: Filter | undefined, property: string): readonly IndexableValue[] {
  if (filter === undefined) return []
  if (filter.type === 'composite') {
    const [first = [], ...others] = filter.filters.map((part) => fixedValues(part, property))
    if (filter.operator === 'and') return [first, ...others].flat()
    return first.filter((value) => others.every((values) => values.some((other) => compareValues(value, other) === 0)))
  }
  const { operator, value } = leaf(filter, property) ?? {}
  if (value === undefined || (operator !== 'equal' && operator !== 'in')) return []
  const values = (value.type === 'array' ? value.values : [value]) as readonly IndexableValue[]
  const [first] = values
  return first !== undefined && values.every((other) => compareValues(first, other) === 0) ? [first] : []
}

function hasInequality(filter: Filter | undefined, property: string): boolean {
  if (filter === undefined) return false
  if (filter.type === 'composite') return filter.filters.some((part) => hasInequality(part, property))
  return leaf(filter, property) !== undefined && filter.operator !== 'equal' && filter.operator !== 'in'
}

/** The value that the filter alone decides; the least when several do. */
function fixedValue({ filter }: Query, property: string): IndexableValue | undefined {
  if (hasInequality(filter, property)) return undefined
  return [...fixedValues(filter, property)].sort(compareValues)[0]
}

type Figures = readonly Value[]

/** What must be answered. Columns are named by the plan, rows are the model's. */
function expected(entities: readonly ModelEntity[], query: Query, asked: readonly Aggregation[], plan: Plan): Figures {
  const free = propertiesOf(asked).filter((property) => fixedValue(query, property) === undefined)
  const { limit, offset } = query
  const whole = limit === undefined && offset === 0
  const base: Query =
    free.length === 0
      ? query
      : {
          ...query,
          projection: query.projection.length > 0 ? query.projection : free,
          order: whole ? query.order.slice(0, keyOrderAt(query)) : query.order,
        }
  const rows = answer(entities, base).slice(offset, limit === undefined ? undefined : offset + limit)
  const valuesOf = (property: string): readonly IndexableValue[] => {
    const fixed = fixedValue(query, property)
    if (fixed !== undefined) return rows.map(() => fixed)
    const i = [...plan.columns, ...plan.lateColumns].findIndex((column) => column.property === property)
    return rows.map(({ values }) => values[i] as IndexableValue)
  }
  return asked.map((each): Value => {
    if (each.operator !== 'count') {
      const values = valuesOf(each.property)
      return each.operator === 'sum' ? sumOf(values) : averageOf(values)
    }
    const count = BigInt(rows.length)
    return { type: 'integer', value: each.upTo !== undefined && each.upTo < count ? each.upTo : count }
  })
}

function keyOrderAt({ order }: Query): number {
  const at = order.findIndex(({ property }) => property === '__key__')
  return at < 0 ? order.length : at
}

/** A timestamp counts as its microseconds. */
const numbersIn = (values: readonly IndexableValue[]) =>
  values
    .map((value) => (value.type === 'timestamp' ? ({ type: 'integer', value: value.micros } as const) : value))
    .filter((value) => value.type === 'integer' || value.type === 'double')

function sumOf(values: readonly IndexableValue[]): Value {
  const numbers = numbersIn(values)
  if (numbers.some((value) => value.type === 'double')) {
    return { type: 'double', value: numbers.reduce((sum, value) => sum + Number(value.value), 0) }
  }
  return { type: 'integer', value: numbers.reduce((sum, value) => sum + BigInt(value.value), 0n) }
}

function averageOf(values: readonly IndexableValue[]): Value {
  const numbers = numbersIn(values)
  if (numbers.length === 0) return { type: 'null' }
  return { type: 'double', value: numbers.reduce((sum, value) => sum + Number(value.value), 0) / numbers.length }
}

/** The plan, with every composite index it asks for; nothing for a query that the language refuses. */
function planned(
  query: Query,
  asked: readonly Aggregation[],
):
  | { plan: Plan; indexes: readonly CompositeIndex[]; run(view: TableView): MaybePromise<ReadonlyMap<string, Value>> }
  | undefined {
  const indexes: CompositeIndex[] = []
  for (;;) {
    try {
      const read = aggregatedRead({ query, aggregations: asked }, database)
      const plan = planSpecial(read.normal, indexes, [], shapeOfCursors(query))
      return { plan, indexes, run: (view) => read.run({ context: context(), view, plan }, windowOf(query, plan)) }
    } catch (error) {
      if (error instanceof MissingIndexError) indexes.push({ ...error.index, id: BigInt(indexes.length + 1) })
      else if (error instanceof DatastoreError) return undefined
      else throw error
    }
  }
}

const context = (): RequestContext => requestContext({ clock: new VirtualClock() })

const named = (asked: readonly Aggregation[]) => asked.map((each, i) => ({ ...each, alias: `n${i}` }))

const queries = {
  'kindless queries': kindlessQueries,
  'queries in key order': keyOrderedQueries,
  'joins of equalities': joinQueries,
  'queries over one column': oneColumnQueries,
  'queries of the whole language': wideQueries,
  'queries with the key before other orders': keyFirstQueries,
}

type Case = [entities: ModelEntity[], query: Query, window: Pick<Query, 'limit' | 'offset'>, terms: Aggregation[]]

const zero: Value = { type: 'integer', value: 0n }

/** Distinct on a property that an equality fixes gives one result, whatever columns stand before that property. */
function distinctBehindOrders(): Case {
  const partition = { ...database, namespaceId: '' }
  const entity = (id: bigint, r: bigint): ModelEntity => ({
    key: { partition, path: [{ kind: 'A', id }] },
    properties: new Map<string, Value>([
      ['p', zero],
      ['r', { type: 'integer', value: r }],
    ]),
  })
  const onP = (operator: 'equal' | 'greaterThanOrEqual'): Filter => {
    return { type: 'property', property: 'p', operator, value: zero }
  }
  const query: Query = {
    partition,
    kind: 'A',
    projection: [],
    filter: { type: 'composite', operator: 'and', filters: [onP('equal'), onP('greaterThanOrEqual')] },
    order: [
      { property: '__key__', direction: 'ascending' },
      { property: 'r', direction: 'ascending' },
    ],
    distinctOn: ['p'],
    offset: 0,
  }
  return [
    [entity(1n, 0n), entity(2n, 1n)],
    query,
    { limit: 2, offset: 0 },
    [
      { operator: 'sum', property: 'p' },
      { operator: 'count', upTo: undefined },
    ],
  ]
}

const examples: Readonly<Record<string, Case[]>> = {
  'queries with the key before other orders': [distinctBehindOrders()],
}

test.each(Object.entries(queries))('over %s they answer what brute force does', (name, query) => {
  let answered = 0
  fc.assert(
    fc.property(entityLists, query, windows, aggregations, (entities, bare, window, terms) => {
      const asked = named(terms)
      const full = { ...bare, ...window }
      const ready = planned(full, asked)
      fc.pre(ready !== undefined)
      const { plan, indexes, run } = ready
      const view = new KvTableView(storeOf(entities, indexes))
      const given = atOnce(run(view))
      expect([...given.keys()]).toEqual(asked.map(({ alias }) => alias))
      expect([...given.values()]).toEqual(expected(entities, full, asked, plan))
      answered++
    }),
    { numRuns: runs(50), examples: examples[name] ?? [] },
  )
  expect(answered).toBeGreaterThanOrEqual(runs(50))
})

test('a store that answers by promise gives the same', async () => {
  await fc.assert(
    fc.asyncProperty(entityLists, wideQueries, windows, aggregations, async (entities, bare, window, terms) => {
      const asked = named(terms)
      const full = { ...bare, ...window }
      const ready = planned(full, asked)
      fc.pre(ready !== undefined)
      const { indexes, run } = ready
      const store = storeOf(entities, indexes)
      const late = await run(new KvTableView(new AsyncKv(store)))
      expect(late).toEqual(await run(new KvTableView(store)))
    }),
    { numRuns: runs(20) },
  )
})
