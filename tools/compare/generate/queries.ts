/** Queries of every shape, each over a small world of its own; with pages of the same query behind it. */
import fc from 'fast-check'
import type { Plain } from '../../../packages/gateway/test/support/published-protos.ts'
import { answerOf, type Case, listOf, type Mode, type Step } from '../case.ts'
import { commitOf, propertyFilter, reference, runQuery } from './steps.ts'
import { embedded, fewScalars, keys, list, member, mixed, stored, storedSingly, type Values } from './values.ts'

/** A commit of up to twelve entities; two thirds of the worlds have no arrays. */
export const worlds: fc.Arbitrary<Step> = fc.constantFrom(stored, storedSingly, storedSingly).chain((values) =>
  fc
    .uniqueArray(
      fc.record({
        key: keys,
        properties: fc.record(
          {
            a: values,
            b: values,
            c: values,
            e: fc.record({ x: values }).map((inner) => embedded(inner)),
          },
          { requiredKeys: ['a'] },
        ),
      }),
      { minLength: 1, maxLength: 12, size: 'max', selector: ({ key }) => JSON.stringify(key) },
    )
    .map((entities) => commitOf(entities.map((upsert) => ({ upsert })))),
)

const names = fc.constantFrom('a', 'a', 'b', 'b', 'c', 'e.x')
const keyValue = member('keyValue', keys)
const ranges = fc.constantFrom('LESS_THAN', 'LESS_THAN_OR_EQUAL', 'GREATER_THAN', 'GREATER_THAN_OR_EQUAL')

const equality: Values = fc.tuple(names, fewScalars).map(([name, value]) => propertyFilter(name, 'EQUAL', value))
const ancestor: Values = keyValue.map((value) => propertyFilter('__key__', 'HAS_ANCESTOR', value))
const keyRange: Values = fc
  .tuple(fc.oneof(ranges, fc.constant('EQUAL')), keyValue)
  .map(([op, value]) => propertyFilter('__key__', op, value))
const rangeOn = (name: string): Values =>
  fc.tuple(ranges, fewScalars).map(([op, value]) => propertyFilter(name, op, value))
const range: Values = names.chain(rangeOn)
const several: Values = fc.oneof(
  fc.tuple(names, fewScalars).map(([name, value]) => propertyFilter(name, 'NOT_EQUAL', value)),
  fc
    .tuple(names, fc.constantFrom('IN', 'IN', 'NOT_IN'), fc.array(fewScalars, { maxLength: 3 }))
    .map(([name, op, values]) => propertyFilter(name, op, list(...values))),
  keyValue.map((value) => propertyFilter('__key__', 'NOT_EQUAL', value)),
  fc
    .tuple(fc.constantFrom('IN', 'NOT_IN'), fc.array(keyValue, { minLength: 1, maxLength: 2 }))
    .map(([op, values]) => propertyFilter('__key__', op, list(...values))),
)

const composite = (op: string, filters: readonly Plain[]): Plain =>
  filters.length === 1 && filters[0] !== undefined ? filters[0] : { compositeFilter: { op, filters } }

const wideFilters: Values = fc.letrec<{ filter: Plain; leaf: Plain; node: Plain }>((tie) => ({
  leaf: mixed([4, equality], [2, range], [2, several], [1, keyRange]),
  node: fc
    .tuple(fc.constantFrom('AND', 'AND', 'OR'), fc.array(tie('filter'), { minLength: 1, maxLength: 3 }))
    .map(([op, filters]) => composite(op, filters)),
  filter: fc.oneof({ depthSize: 'small', maxDepth: 2 }, tie('leaf'), tie('node')),
})).filter

const order = (name: string): Values =>
  fc.constantFrom('ASCENDING', 'DESCENDING').map((direction) => ({ property: { name }, direction }))
const orders: fc.Arbitrary<Plain[]> = fc
  .uniqueArray(mixed([5, names], [1, fc.constant('__key__')]), {
    maxLength: 2,
  })
  .chain((chosen) => fc.tuple(...chosen.map(order)))

const none = fc.constant<Plain[]>([])
const only = (one: Values): fc.Arbitrary<Plain[]> => fc.tuple(one)
const ordersFrom = (name: string): fc.Arbitrary<Plain[]> =>
  fc.tuple(order(name), orders).map(([first, more]) => [first, ...more.filter((one) => nameOf(one) !== name)])
/** Ranges on one property, and orders that it leads. */
const rangesOn = (range: Values, itsOrders: fc.Arbitrary<Plain[]>) =>
  fc.tuple(fc.array(range, { minLength: 1, maxLength: 2 }), fc.oneof(none, itsOrders))

/** What the first Datastore took: equalities, and ranges on one property that leads the orders. */
const narrow: Values = fc
  .tuple(
    fc.array(equality, { maxLength: 2 }),
    mixed(
      [2, fc.tuple(none, orders)],
      [2, names.chain((name) => rangesOn(rangeOn(name), ordersFrom(name)))],
      [1, rangesOn(keyRange, only(order('__key__')))],
    ),
    mixed([3, none], [1, only(ancestor)]),
  )
  .map(([equalities, [itsRange, itsOrder], itsAncestor]) => {
    const filters = [...equalities, ...itsRange, ...itsAncestor]
    return { ...(filters.length === 0 ? {} : { filter: composite('AND', filters) }), order: itsOrder }
  })

const nameOf = (one: Plain): unknown => (one['property'] as Plain)['name']

const wide: Values = fc.tuple(wideFilters, fc.option(ancestor), orders).map(([filter, itsAncestor, itsOrder]) => ({
  filter: itsAncestor === null ? filter : composite('AND', [itsAncestor, filter]),
  order: itsOrder,
}))

const projections: Values = mixed(
  [6, fc.constant({})],
  [1, fc.constant({ projection: [reference('__key__')] })],
  [
    2,
    fc.tuple(fc.uniqueArray(names, { minLength: 1, maxLength: 2 }), fc.boolean()).map(([chosen, isDistinct]) => ({
      projection: chosen.map(reference),
      ...(isDistinct ? { distinctOn: chosen.map((name) => ({ name })) } : {}),
    })),
  ],
)

const kinds: Values = mixed([12, fc.constant({ kind: [{ name: 'K' }] })], [2, fc.constant({ kind: [{ name: 'L' }] })])
/** Without a kind, with what such queries may have. */
const kindless: Values = fc
  .tuple(fc.option(ancestor), fc.option(keyRange), fc.boolean())
  .map(([itsAncestor, itsRange, isOrdered]) => {
    const filters = [itsAncestor, itsRange].filter((one): one is Plain => one !== null)
    return {
      ...(filters.length === 0 ? {} : { filter: composite('AND', filters) }),
      ...(isOrdered ? { order: [reference('__key__')] } : {}),
    }
  })

/** Any query, without limit, offset and cursors. */
export function queries(mode: Mode): Values {
  const shapes = mode === 'firestore' ? fc.oneof(narrow, wide) : mixed([6, narrow], [1, wide])
  return mixed(
    [
      9,
      fc.tuple(kinds, shapes, projections).map(([kind, shape, projection]) => ({ ...kind, ...shape, ...projection })),
    ],
    [1, kindless],
  )
}

export const windows: Values = fc.record(
  { limit: fc.nat({ max: 4 }).map((value) => ({ value })), offset: fc.nat({ max: 3 }) },
  { requiredKeys: [] },
)

const manyEntities = (count: number): readonly Step[] => {
  const all = Array.from({ length: count }, (_, i) => ({
    upsert: { key: { path: [{ kind: 'K', id: String(i + 1) }] }, properties: { a: { integerValue: String(i % 7) } } },
  }))
  return Array.from({ length: Math.ceil(count / 500) }, (_, i) => commitOf(all.slice(i * 500, (i + 1) * 500)))
}

/** More results than a batch holds, or a few less; limits and offsets about the edges of batches. */
export const batchCases: fc.Arbitrary<Case> = fc
  .tuple(
    fc.constantFrom(299, 300, 301, 650, 1_010),
    fc.constantFrom<Plain>(
      {},
      { projection: [reference('__key__')] },
      { projection: [reference('a')] },
      { order: [reference('a')] },
      { filter: propertyFilter('a', 'GREATER_THAN', { integerValue: '1' }) },
    ),
    fc.record(
      {
        limit: fc.constantFrom(0, 1, 299, 300, 301, 650, 651).map((value) => ({ value })),
        offset: fc.constantFrom(1, 299, 300, 301, 1_000, 1_001),
      },
      { requiredKeys: [] },
    ),
    fc.boolean(),
  )
  .map(([count, shape, window, goesOn]) => {
    const world = manyEntities(count)
    const query = { kind: [{ name: 'K' }], ...shape, ...window }
    const first = world.length
    const next = { ...query, offset: 0, startCursor: answerOf(first, 'batch', 'endCursor') }
    const steps: Step[] = [...world, runQuery(query)]
    // Where batches are cut otherwise, what follows differs too.
    if (goesOn && count <= 300) steps.push(runQuery(next, first))
    return { steps }
  })

/** The query with its orders turned round, where the last of them is the key's; else `undefined`. */
function reversed(query: Plain): Plain | undefined {
  const orders = listOf(query['order'])
  const isByKey = orders.length === 0 && !JSON.stringify(query['filter'] ?? '').includes('THAN')
  if (orders.at(-1) !== undefined ? nameOf(orders.at(-1) ?? {}) !== '__key__' : !isByKey) return undefined
  if (query['kind'] === undefined || query['projection'] !== undefined) return undefined
  const key = { property: { name: '__key__' }, direction: 'DESCENDING' }
  const turned = orders.map((one) => ({
    ...one,
    direction: one['direction'] === 'DESCENDING' ? 'ASCENDING' : 'DESCENDING',
  }))
  return { ...query, order: orders.length === 0 ? [key] : turned }
}

/** The query whole; a page of it; what follows that page; what lies behind, or before, its first result; and the way back. */
export function queryCases(mode: Mode): fc.Arbitrary<Case> {
  const pages = fc.tuple(
    windows,
    fc.constantFrom('none', 'next', 'after', 'until', 'untilFirst', 'back', 'back'),
    windows,
  )
  return fc.tuple(worlds, queries(mode), pages).map(([world, query, [window, how, second]]) => {
    const steps: Step[] = [world, runQuery(query)]
    const page = (more: Plain): number => steps.push(runQuery({ ...query, ...more }, 1))
    if (Object.keys(window).length > 0 || how !== 'none') page(window)
    const back = reversed(query)
    if (how === 'back' && back !== undefined) {
      const turned = steps.push(runQuery(back)) - 1
      const from = { startCursor: answerOf(2, 'batch', 'endCursor') }
      steps.push(runQuery({ ...back, ...second, ...from }, turned))
    }
    if (how === 'next') page({ ...second, startCursor: answerOf(2, 'batch', 'endCursor') })
    if (how === 'after') page({ ...second, startCursor: answerOf(1, 'batch', 'entityResults', 0, 'cursor') })
    if (how === 'until') page({ ...second, endCursor: answerOf(1, 'batch', 'entityResults', -1, 'cursor') })
    if (how === 'untilFirst') page({ ...second, endCursor: answerOf(1, 'batch', 'entityResults', 0, 'cursor') })
    return { steps }
  })
}
