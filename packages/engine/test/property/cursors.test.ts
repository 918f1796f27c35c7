/**
 * Cursors in all directions, for random queries. What a query gives behind a cursor and what the reverse of it gives behind the same
 * cursor are together the whole (cursor/P1), page by page too. With any other directions a cursor stays at its result.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import type { PropertyOrder, Query } from '../../src/model/query.ts'
import type { Column } from '../../src/planner/normal-query.ts'
import { normalize } from '../../src/planner/normalize.ts'
import type { Plan } from '../../src/planner/plan-node.ts'
import { KvTableView } from '../../src/tables/table.ts'
import { type ModelEntity, storeOf } from '../../src/testing/query-world.ts'
import {
  database,
  entityLists,
  joinQueries,
  keyFirstQueries,
  keyOrderedQueries,
  oneColumnQueries,
  wideQueries,
} from './query-arbitraries.ts'
import { isRefused, planWithIndexes, runPlan, singleValued, words } from './query-plans.ts'

const turned = ({ property, direction }: PropertyOrder): PropertyOrder => ({
  property,
  direction: direction === 'ascending' ? 'descending' : 'ascending',
})

/** The query with every order turned round, those that it leaves to the planner too. */
function reverseOf(query: Query): Query {
  const { columns, lateColumns, reverse } = normalize(query, database)
  const orders = (some: readonly Column[]) => some.map(turned)
  const key = turned({ property: '__key__', direction: reverse ? 'descending' : 'ascending' })
  return { ...query, order: [...orders(columns), key, ...orders(lateColumns)] }
}

interface Direction {
  readonly query: Query
  readonly planned: Plan
  readonly results: readonly { readonly words: string; readonly cursor: Uint8Array }[]
  run(more: Partial<Query>): ReturnType<typeof runPlan>
}

/** The whole of a query and of the same with other directions, over one store. */
function bothWays(entities: readonly ModelEntity[], query: Query, back: Query): readonly [Direction, Direction] {
  const [forwardPlan, backPlan] = [planWithIndexes(query, []), planWithIndexes(back, [])]
  const indexes = [...forwardPlan.indexes, ...backPlan.indexes].map((index, i) => ({ ...index, id: BigInt(i + 1) }))
  const view = new KvTableView(storeOf(entities, indexes))
  const direction = (asked: Query): Direction => {
    const { planned } = planWithIndexes(asked, indexes)
    const run = (more: Partial<Query>) => runPlan(view, planned, { ...asked, ...more }, { resultsMax: 1_000 })
    const results = run({}).results.map((result) => ({ words: words(result), cursor: result.cursor }))
    return { query: asked, planned, results, run }
  }
  return [direction(query), direction(back)]
}

const listed = (page: ReturnType<typeof runPlan>): string[] => page.results.map(words)
const wordsOf = (results: Direction['results']): string[] => results.map((result) => result.words)

/** One key has no order to turn round; without a kind there is none but ascending. */
function isReversible(query: Query): boolean {
  if (query.kind === undefined || isRefused(query)) return false
  const back = reverseOf(query)
  return !isRefused(back) && normalize(back, database).reverse !== normalize(query, database).reverse
}

function check(entities: readonly ModelEntity[], query: Query, size: number): void {
  fc.pre(isReversible(query))
  // Of an entity with arrays the first row is another one in either direction, but for projections, which give each row.
  const world = normalize(query, database).everyRow ? entities : entities.filter(singleValued)
  const [forward, back] = bothWays(world, query, reverseOf(query))
  expect(back.planned.shape).toBe(forward.planned.shape)
  const count = forward.results.length
  if (query.distinctOn.length === 0) expect(wordsOf(back.results)).toEqual(wordsOf(forward.results).reverse())
  expect(back.results).toHaveLength(count)

  // Every cursor divides the results of both directions in the same place.
  for (let i = 0; i < count; i += size) {
    const { cursor } = forward.results[i] as Direction['results'][number]
    expect(listed(back.run({ startCursor: cursor }))).toEqual(wordsOf(back.results).slice(count - i - 1))
    expect(listed(back.run({ endCursor: cursor }))).toEqual(wordsOf(back.results).slice(0, count - i - 1))
    const { cursor: other } = back.results[i] as Direction['results'][number]
    expect(listed(forward.run({ startCursor: other }))).toEqual(wordsOf(forward.results).slice(count - i - 1))
    expect(listed(forward.run({ endCursor: other }))).toEqual(wordsOf(forward.results).slice(0, count - i - 1))
  }

  // Forward page by page, and back over the same pages.
  const pages: string[][] = []
  let page = forward.run({ limit: size })
  for (; ; page = forward.run({ limit: size, startCursor: page.endCursor })) {
    pages.push(listed(page))
    if (page.moreResults === 'noMoreResults') break
  }
  const last = pages.pop() ?? []
  let { endCursor } = page
  for (const seen of [last, ...pages.reverse()]) {
    const again = back.run({ limit: seen.length, startCursor: endCursor })
    if (query.distinctOn.length === 0) expect(listed(again)).toEqual(seen.toReversed())
    expect(again.results).toHaveLength(seen.length)
    endCursor = again.endCursor
  }
  expect(listed(back.run({ startCursor: endCursor }))).toEqual([])
}

const sizes = fc.integer({ min: 1, max: 6 })

test.each([
  ['queries in key order', keyOrderedQueries],
  ['joins of equalities', joinQueries],
  ['queries over one column', oneColumnQueries],
  ['queries of the whole language', wideQueries],
  ['queries with the key before other orders', keyFirstQueries],
])('%s go back from any cursor', (_, queries) => {
  fc.assert(fc.property(entityLists, queries, sizes, check), { numRuns: runs(30) })
})

/** The query with some of its orders turned round: those of the columns for which `turns` says so, and the last for the key. */
function partlyTurned(query: Query, turns: readonly boolean[]): Query {
  const { columns, lateColumns, reverse } = normalize(query, database)
  const orders = [
    ...columns,
    { property: '__key__', direction: reverse ? ('descending' as const) : ('ascending' as const) },
    ...lateColumns,
  ]
  return { ...query, order: orders.map((order, i) => (turns[i] ? turned(order) : order)) }
}

function checkPlace(entities: readonly ModelEntity[], query: Query, turns: readonly boolean[]): void {
  fc.pre(query.kind !== undefined && !isRefused(query) && query.distinctOn.length === 0)
  const other = partlyTurned(query, turns)
  fc.pre(!isRefused(other))
  const world = normalize(query, database).everyRow ? entities : entities.filter(singleValued)
  const [given, taken] = bothWays(world, query, other)
  expect(taken.planned.shape).toBe(given.planned.shape)
  const { columns, reverse } = normalize(query, database)
  const back = normalize(other, database)
  const isTurned =
    columns[0] === undefined ? back.reverse !== reverse : columns[0].direction !== back.columns[0]?.direction
  const whole = wordsOf(taken.results)
  for (const result of given.results) {
    // Rows of one entity may look the same, where what is projected leaves out a column.
    const at = whole.indexOf(result.words)
    if (at !== whole.lastIndexOf(result.words)) continue
    const split = isTurned ? at : at + 1
    expect(listed(taken.run({ startCursor: result.cursor }))).toEqual(whole.slice(split))
    expect(listed(taken.run({ endCursor: result.cursor }))).toEqual(whole.slice(0, split))
  }
}

test.each([
  ['queries over one column', oneColumnQueries],
  ['queries of the whole language', wideQueries],
])('a cursor of %s keeps its place where any of the orders are turned round', (_, queries) => {
  const turns = fc.array(fc.boolean(), { minLength: 5, maxLength: 5 })
  fc.assert(fc.property(entityLists, queries, turns, checkPlace), { numRuns: runs(18) })
})
