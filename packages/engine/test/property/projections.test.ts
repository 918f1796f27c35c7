/**
 * Projections over random declared indexes, where no other index may be built: a query is served exactly when some order that
 * it leaves open is (a second opinion, by trying all of them), and gives what brute force does, in the order of the index.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { shapeOfCursors } from '../../src/executor/cursor.ts'
import type { CompositeIndex, IndexDefinition } from '../../src/model/index-definition.ts'
import type { Filter, PropertyOrder, Query } from '../../src/model/query.ts'
import { MissingIndexError } from '../../src/planner/missing-index.ts'
import { normalize } from '../../src/planner/normalize.ts'
import { plan } from '../../src/planner/plan.ts'
import type { Plan } from '../../src/planner/plan-node.ts'
import { KvTableView } from '../../src/tables/table.ts'
import { type ModelEntity, storeOf } from '../../src/testing/query-world.ts'
import { database, entityLists } from './query-arbitraries.ts'
import { answer, type ModelOrder, openOrders } from './query-model.ts'
import { expectedWords, isRefused, orderOf, runPlan, words } from './query-plans.ts'

const partition = { ...database, namespaceId: '' }
const names = ['p', 'q', 'r'] as const
const directions = fc.constantFrom<PropertyOrder['direction']>('ascending', 'descending')

const definitions: fc.Arbitrary<IndexDefinition> = fc
  .record({
    ancestor: fc.boolean(),
    columns: fc.shuffledSubarray([...names], { minLength: 1 }),
    signs: fc.array(directions, { minLength: 3, maxLength: 3 }),
    key: fc.constantFrom<PropertyOrder['direction'] | undefined>(undefined, undefined, undefined, 'descending'),
  })
  .map(({ ancestor, columns, signs, key }) => ({
    kind: 'A',
    ancestor: ancestor || columns.length === 1,
    properties: [
      ...columns.map((name, i) => ({ name, direction: signs[i] ?? 'ascending' })),
      ...(key === undefined ? [] : [{ name: '__key__', direction: key }]),
    ],
  }))

const filterOn = (property: string, operator: 'equal' | 'greaterThanOrEqual'): Filter => {
  return { type: 'property', property, operator, value: { type: 'integer', value: 0n } }
}

/** Some properties equal to 0, others projected; of these some ordered, distinct, or at least 0. */
const queries: fc.Arbitrary<Query> = fc
  .record({
    shuffled: fc.shuffledSubarray([...names], { minLength: 3 }),
    equal: fc.constantFrom(0, 0, 1, 2),
    ordered: fc.constantFrom(0, 0, 0, 1, 2),
    distinct: fc.constantFrom(0, 0, 1, 2, 3),
    unequal: fc.constantFrom(undefined, undefined, 0, 1),
    ancestor: fc.boolean(),
    signs: fc.array(directions, { minLength: 3, maxLength: 3 }),
  })
  .map(({ shuffled, equal, ordered, distinct, unequal, ancestor, signs }) => {
    const projection = shuffled.slice(equal)
    const range = unequal === undefined ? undefined : projection[unequal]
    const root = { partition, path: [{ kind: 'A', id: 1n }] }
    const filters: Filter[] = [
      ...shuffled.slice(0, equal).map((name) => filterOn(name, 'equal')),
      ...(range === undefined ? [] : [filterOn(range, 'greaterThanOrEqual')]),
      ...(ancestor
        ? [
            {
              type: 'property',
              property: '__key__',
              operator: 'hasAncestor',
              value: { type: 'key', key: root },
            } as const,
          ]
        : []),
    ]
    return {
      partition,
      kind: 'A',
      projection,
      filter: filters.length === 0 ? undefined : { type: 'composite', operator: 'and', filters },
      order: projection.slice(0, ordered).map((property, i) => ({ property, direction: signs[i] ?? 'ascending' })),
      distinctOn: projection.slice(0, distinct),
      offset: 0,
    }
  })

function leaves({ filter }: Query): readonly Extract<Filter, { type: 'property' }>[] {
  if (filter === undefined) return []
  return (filter.type === 'composite' ? filter.filters : [filter]) as readonly Extract<Filter, { type: 'property' }>[]
}

/** Whether indexes, or the built-in rows, serve the query in this order. */
function isServed(query: Query, order: readonly ModelOrder[], indexes: readonly IndexDefinition[]): boolean {
  const columns = order.filter(({ property }) => property !== '__key__')
  const equal = leaves(query).flatMap(({ operator, property }) => (operator === 'equal' ? [property] : []))
  const below = leaves(query).some(({ operator }) => operator === 'hasAncestor')
  if (columns.length === 1 && equal.length === 0 && !below) return true
  const usable = indexes.flatMap(({ ancestor, properties }) => {
    if (ancestor && !below) return []
    const all = properties.filter(({ name }) => name !== '__key__')
    const turned = properties.some(({ name, direction }) => name === '__key__' && direction === 'descending')
    const split = all.length - columns.length
    const ends = columns.every(({ property, sign }, i) => {
      const column = all[split + i]
      return column?.name === property && ((column.direction === 'ascending') === (sign === 1)) !== turned
    })
    const begin = all.slice(0, Math.max(split, 0)).map(({ name }) => name)
    return split >= 0 && ends && begin.every((name) => equal.includes(name)) ? [{ ancestor, begin }] : []
  })
  return (
    usable.length > 0 &&
    equal.every((name) => usable.some(({ begin }) => begin.includes(name))) &&
    (!below || usable.some(({ ancestor }) => ancestor))
  )
}

/** The plan; `undefined` where no index serves the query. */
function check(
  entities: readonly ModelEntity[],
  query: Query,
  declared: readonly IndexDefinition[],
  size: number,
): Plan | undefined {
  const indexes = declared.map((index, i): CompositeIndex => ({ ...index, id: BigInt(i + 1) }))
  const normal = normalize(query, database)
  const open = openOrders(query)
  if (!open.some((order) => isServed(query, order, declared))) {
    expect(() => plan(normal, indexes)).toThrow(MissingIndexError)
    return undefined
  }
  const planned = plan(normal, indexes)
  const order = orderOf(query, planned)
  expect(isServed(query, order, declared)).toBe(true)
  const natural = orderOf(query, { ...planned, columns: normal.columns })
  if (isServed(query, natural, declared)) expect(order).toEqual(natural)

  const view = new KvTableView(storeOf(entities, indexes))
  const run = (more: Partial<Query>, limits = {}) => runPlan(view, planned, { ...query, ...more }, limits)
  const whole = run({})
  expect(whole.results.map(words)).toEqual(expectedWords(query, answer(entities, query, order), planned))
  const paged: string[] = []
  let page = run({}, { resultsMax: size })
  for (; page.moreResults === 'notFinished'; page = run({ startCursor: page.endCursor }, { resultsMax: size })) {
    paged.push(...page.results.map(words))
  }
  expect([...paged, ...page.results.map(words)]).toEqual(whole.results.map(words))
  keepsItsOrder(query, planned, indexes, whole.endCursor)
  return planned
}

/** An index that comes later does not change what a cursor goes on with. */
function keepsItsOrder(query: Query, planned: Plan, indexes: readonly CompositeIndex[], cursor: Uint8Array): void {
  const normal = normalize(query, database)
  const natural = {
    kind: 'A',
    ancestor: false,
    properties: normal.columns.map(({ property, direction }) => ({ name: property, direction })),
  }
  const equal = leaves(query).flatMap(({ operator, property }) =>
    operator === 'equal' ? [{ name: property, direction: 'ascending' as const }] : [],
  )
  const later: CompositeIndex = { ...natural, ancestor: true, properties: [...equal, ...natural.properties], id: 99n }
  const shape = shapeOfCursors({ ...query, startCursor: cursor })
  expect(plan(normal, [later, { ...later, ancestor: false }, ...indexes], shape).shape).toBe(planned.shape)
}

test('a projection is served exactly where an order that it leaves open is, and comes in that order', () => {
  let [served, turned] = [0, 0]
  const counted = (planned: Plan | undefined, natural: number): void => {
    if (planned !== undefined) served++
    if (planned !== undefined && planned.shape !== natural) turned++
  }
  const law = fc.property(
    entityLists,
    queries,
    fc.array(definitions, { maxLength: 20, size: 'max' }),
    fc.integer({ min: 1, max: 5 }),
    (entities, query, declared, size) => {
      fc.pre(!isRefused(query))
      counted(check(entities, query, declared, size), normalize(query, database).shape)
    },
  )
  fc.assert(law, { numRuns: 100, seed: 1 })
  // Counted for one seed: with random seeds the count would fall below any bound now and then.
  expect(served).toBeGreaterThan(25)
  expect(turned).toBeGreaterThan(7)
  fc.assert(law, { numRuns: runs(50) })
})
