/** Small worlds of entities, and queries of every kind about them, such that filters hit and values repeat. */
import fc from 'fast-check'
import type { IndexDefinition } from '../../src/model/index-definition.ts'
import { formatKey, type Key, type PathElement } from '../../src/model/key.ts'
import type { Filter, PropertyOrder, Query } from '../../src/model/query.ts'
import type { IndexableValue, Value } from '../../src/model/value.ts'
import type { ModelEntity } from '../../src/testing/query-world.ts'

export const database = { projectId: 'p', databaseId: '' }

const partitionOf = (namespaceId: string) => ({ ...database, namespaceId })

/** Few enough that filters hit, many enough that types mix: 1 is also a timestamp, a double and an array's member. */
const fewValues: fc.Arbitrary<IndexableValue> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.bigInt({ min: 0n, max: 2n }).map((value): IndexableValue => ({ type: 'integer', value })),
  },
  { weight: 1, arbitrary: fc.constant<IndexableValue>({ type: 'timestamp', micros: 1n }) },
  { weight: 1, arbitrary: fc.constant<IndexableValue>({ type: 'null' }) },
  { weight: 1, arbitrary: fc.constant<IndexableValue>({ type: 'double', value: 1 }) },
  { weight: 1, arbitrary: fc.constant<IndexableValue>({ type: 'string', value: 'a\0\xff' }) },
  { weight: 1, arbitrary: fc.constant<IndexableValue>({ type: 'boolean', value: true }) },
)

const kinds = fc.constantFrom('A', 'A', 'A', 'B')
const elements: fc.Arbitrary<PathElement> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: kinds, id: fc.bigInt({ min: 1n, max: 4n }) }) },
  { weight: 1, arbitrary: fc.record({ kind: kinds, name: fc.constantFrom('a', 'b') }) },
)
const paths = fc.array(elements, { minLength: 1, maxLength: 3, size: 'max' })
const namespaces = fc.constantFrom('', '', '', 'n')
const keysIn = (namespaceId: string): fc.Arbitrary<Key> =>
  paths.map((path) => ({ partition: partitionOf(namespaceId), path }))

const propertyValues: fc.Arbitrary<Value> = fc.oneof(
  { weight: 6, arbitrary: fewValues },
  {
    weight: 4,
    arbitrary: fc
      .array(fewValues, { minLength: 0, maxLength: 4, size: 'max' })
      .map((values): Value => ({ type: 'array', values })),
  },
  { weight: 1, arbitrary: fewValues.map((value): Value => ({ ...value, excludeFromIndexes: true })) },
)
const propertyNames = fc.constantFrom('p', 'q', 'r')

const propertyMaps = fc
  .record({ p: propertyValues, q: propertyValues, r: propertyValues }, { requiredKeys: ['p'] })
  .map((properties) => new Map<string, Value>(Object.entries(properties)))

const keysInSomeNamespace = fc.constantFrom('', '', '', '', 'n').chain(keysIn)

export const entityLists: fc.Arbitrary<ModelEntity[]> = fc.uniqueArray(
  fc.record({ key: keysInSomeNamespace, properties: propertyMaps }),
  {
    minLength: 30,
    maxLength: 70,
    size: 'max',
    selector: ({ key }) => `${key.partition.namespaceId}|${formatKey(key)}`,
  },
)

const directions = fc.constantFrom<PropertyOrder['direction']>('ascending', 'descending')
const inequalities = fc.constantFrom(
  'lessThan' as const,
  'lessThanOrEqual' as const,
  'greaterThan' as const,
  'greaterThanOrEqual' as const,
)

const filterOn = (
  property: string,
  operator: Extract<Filter, { type: 'property' }>['operator'],
  value: Value,
): Filter => ({
  type: 'property',
  property,
  operator,
  value,
})

const keyValue = (key: Key): Value => ({ type: 'key', key })

function keyFilters(namespaceId: string): fc.Arbitrary<Filter[]> {
  return fc.oneof(
    { weight: 8, arbitrary: fc.constant<Filter[]>([]) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(inequalities, keysIn(namespaceId))
        .map(([op, key]) => [filterOn('__key__', op, keyValue(key))]),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(keysIn(namespaceId), keysIn(namespaceId))
        .map(([low, high]) => [
          filterOn('__key__', 'greaterThanOrEqual', keyValue(low)),
          filterOn('__key__', 'lessThan', keyValue(high)),
        ]),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom('equal' as const, 'notEqual' as const), keysIn(namespaceId))
        .map(([op, key]) => [filterOn('__key__', op, keyValue(key))]),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          fc.constantFrom('in' as const, 'notIn' as const),
          fc.array(keysIn(namespaceId), { minLength: 1, maxLength: 3 }),
        )
        .map(([op, keys]) => [filterOn('__key__', op, { type: 'array', values: keys.map(keyValue) })]),
    },
  )
}

function ancestorFilters(namespaceId: string): fc.Arbitrary<Filter[]> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant<Filter[]>([]) },
    {
      weight: 1,
      arbitrary: fc
        .array(elements, { minLength: 1, maxLength: 2 })
        .map((path) => [filterOn('__key__', 'hasAncestor', keyValue({ partition: partitionOf(namespaceId), path }))]),
    },
  )
}

const equalities = fc.tuple(propertyNames, fewValues).map(([name, value]) => filterOn(name, 'equal', value))

const and = (filters: readonly Filter[]): Filter | undefined =>
  filters.length === 0 ? undefined : filters.length === 1 ? filters[0] : { type: 'composite', operator: 'and', filters }

function queryOf(namespaceId: string, parts: Partial<Query>): Query {
  return { partition: partitionOf(namespaceId), projection: [], order: [], distinctOn: [], offset: 0, ...parts }
}

const keyOrders = fc.oneof(
  fc.constant<PropertyOrder[]>([]),
  directions.map((direction) => [{ property: '__key__', direction }]),
)

export const kindlessQueries = namespaces.chain((ns) =>
  fc
    .tuple(ancestorFilters(ns), keyFilters(ns))
    .map(([ancestor, keys]) => queryOf(ns, { filter: and([...ancestor, ...keys]) })),
)

export const keyOrderedQueries = namespaces.chain((ns) =>
  fc
    .tuple(ancestorFilters(ns), keyFilters(ns), fc.array(equalities, { maxLength: 3 }), keyOrders)
    .map(([ancestor, keys, equal, order]) =>
      queryOf(ns, { kind: 'A', filter: and([...ancestor, ...keys, ...equal]), order }),
    ),
)

const hits = fc
  .tuple(propertyNames, fc.bigInt({ min: 0n, max: 1n }))
  .map(([name, value]) => filterOn(name, 'equal', { type: 'integer', value }))

/** Two or three equalities that many entities satisfy, so that joins meet often. */
export const joinQueries = fc
  .tuple(fc.array(hits, { minLength: 2, maxLength: 3 }), keyOrders)
  .map(([equal, order]) => queryOf('', { kind: 'A', filter: and(equal), order }))

const ranges = (name: string): fc.Arbitrary<Filter[]> =>
  fc.oneof(
    fc.constant<Filter[]>([]),
    fc.tuple(inequalities, fewValues).map(([op, value]) => [filterOn(name, op, value)]),
    fc
      .tuple(fewValues, fewValues)
      .map(([low, high]) => [filterOn(name, 'greaterThan', low), filterOn(name, 'lessThanOrEqual', high)]),
    fewValues.map((value) => [filterOn(name, 'notEqual', value)]),
    fc
      .array(fewValues, { minLength: 1, maxLength: 3 })
      .map((values) => [filterOn(name, 'notIn', { type: 'array', values })]),
  )

export const oneColumnQueries = namespaces.chain((ns) =>
  fc.tuple(propertyNames, fc.boolean()).chain(([name, ordered]) =>
    fc.tuple(ranges(name), directions, keyOrders, keyFilters(ns)).map(([range, direction, keyOrder, keys]) =>
      queryOf(ns, {
        kind: 'A',
        filter: and([...range, ...keys]),
        order: ordered || range.length === 0 ? [{ property: name, direction }, ...keyOrder] : [],
      }),
    ),
  ),
)

/** Anything the language has, over one kind. */
const wideFilters = (ns: string): fc.Arbitrary<Filter[]> =>
  fc
    .tuple(
      ancestorFilters(ns),
      keyFilters(ns),
      fc.array(equalities, { maxLength: 2 }),
      fc.array(
        fc.tuple(propertyNames, inequalities, fewValues).map(([name, op, value]) => filterOn(name, op, value)),
        { maxLength: 2 },
      ),
      fc.array(
        fc
          .tuple(propertyNames, fc.array(fewValues, { minLength: 1, maxLength: 3 }))
          .map(([name, values]) => filterOn(name, 'in', { type: 'array', values })),
        { maxLength: 1 },
      ),
      fc.array(
        fc
          .array(
            fc.oneof(
              equalities,
              fc.tuple(inequalities, keysIn(ns)).map(([op, key]) => filterOn('__key__', op, keyValue(key))),
              fc.tuple(propertyNames, inequalities, fewValues).map(([n, op, v]) => filterOn(n, op, v)),
            ),
            {
              minLength: 1,
              maxLength: 2,
            },
          )
          .map((filters): Filter => ({ type: 'composite', operator: 'or', filters })),
        { maxLength: 1 },
      ),
    )
    .map((parts) => parts.flat())

const someOrders = (maxLength: number): fc.Arbitrary<PropertyOrder[]> =>
  fc.array(fc.record({ property: propertyNames, direction: directions }), { maxLength })

const orderLists = fc
  .tuple(someOrders(2), keyOrders, fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, someOrders(1)))
  .map((parts) => parts.flat())

/** The key before other orders. */
const keyFirstOrders = fc
  .tuple(
    someOrders(1),
    directions.map((direction) => [{ property: '__key__', direction }]),
    someOrders(2),
  )
  .map((parts) => parts.flat())

const widely = (orders: fc.Arbitrary<PropertyOrder[]>): fc.Arbitrary<Query> =>
  namespaces.chain((ns) => wideIn(ns, orders))

const wideIn = (ns: string, orders: fc.Arbitrary<PropertyOrder[]>): fc.Arbitrary<Query> =>
  fc
    .tuple(
      wideFilters(ns),
      orders,
      fc.oneof(
        { weight: 3, arbitrary: fc.constant<string[]>([]) },
        { weight: 1, arbitrary: fc.constant(['__key__']) },
        { weight: 2, arbitrary: fc.uniqueArray(propertyNames, { minLength: 1, maxLength: 2 }) },
      ),
      fc.oneof(
        { weight: 3, arbitrary: fc.constant<string[]>([]) },
        { weight: 1, arbitrary: fc.uniqueArray(propertyNames, { minLength: 1, maxLength: 2 }) },
      ),
    )
    .map(([filters, order, projection, distinctOn]) =>
      queryOf(ns, { kind: 'A', filter: and(filters), order, projection, distinctOn }),
    )

export const wideQueries: fc.Arbitrary<Query> = widely(orderLists)
export const keyFirstQueries: fc.Arbitrary<Query> = widely(keyFirstOrders)

/** Indexes that may be there already, so that joins of several are tried too. */
export const spareIndexes: fc.Arbitrary<IndexDefinition[]> = fc.array(
  fc.record({
    kind: fc.constant('A'),
    ancestor: fc.boolean(),
    properties: fc
      .tuple(
        fc.uniqueArray(fc.record({ name: propertyNames, direction: directions }), {
          minLength: 2,
          maxLength: 3,
          selector: ({ name }) => name,
        }),
        keyOrders,
      )
      .map(([columns, key]) => [...columns, ...key.map(({ property, direction }) => ({ name: property, direction }))]),
  }),
  { maxLength: 4 },
)
