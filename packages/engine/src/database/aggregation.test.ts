import { expect, test } from 'vitest'
import { type Ledger, RecordingLedger, requestContext } from '../context.ts'
import { shapeOfCursors } from '../executor/cursor.ts'
import { execute } from '../executor/execute.ts'
import { windowOf } from '../executor/window.ts'
import { planSpecial } from '../metadata/special-kinds.ts'
import type { Query } from '../model/query.ts'
import type { Value } from '../model/value.ts'
import { normalize } from '../planner/normalize.ts'
import { plan } from '../planner/plan.ts'
import { KvTableView } from '../tables/table.ts'
import { atOnce } from '../testing/at-once.ts'
import {
  and,
  entity,
  index,
  type ModelEntity,
  or,
  type PlainValue,
  query,
  queryDatabase,
  storeOf,
  where,
} from '../testing/query-world.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { aggregatedRead } from './aggregation.ts'
import type { Aggregation } from './api.ts'

const count: Aggregation = { operator: 'count', upTo: undefined }
const countUpTo = (upTo: bigint): Aggregation => ({ operator: 'count', upTo })
const sum = (property: string): Aggregation => ({ operator: 'sum', property })
const avg = (property: string): Aggregation => ({ operator: 'avg', property })

interface Options {
  readonly indexes?: readonly string[]
  readonly ledger?: Ledger
}

/** The values by name, from a store that answers at once. */
function run(
  entities: readonly ModelEntity[],
  asked: Query,
  aggregations: readonly Aggregation[],
  { indexes = [], ledger }: Options = {},
): readonly Value[] {
  const definitions = indexes.map((words, i) => index(words, BigInt(i + 1)))
  const context = requestContext({ clock: new VirtualClock(), ...(ledger === undefined ? {} : { ledger }) })
  const read = aggregatedRead({ query: asked, aggregations }, queryDatabase)
  const plan = planSpecial(read.normal, definitions, [], shapeOfCursors(asked))
  const view = new KvTableView(storeOf(entities, definitions))
  const answer = atOnce(read.run({ context, view, plan }, windowOf(asked, plan)))
  return [...answer.values()]
}

/** The aggregations over entities with these values of `p`. */
function over(values: readonly PlainValue[], aggregations: readonly Aggregation[]): readonly Value[] {
  const entities = values.map((value, i) => entity(`A:${i + 1}`, { p: value }))
  return run(entities, query({ kind: 'A' }), aggregations)
}

const integer = (value: bigint): Value => ({ type: 'integer', value })
const double = (value: number): Value => ({ type: 'double', value })
const nothing: Value = { type: 'null' }
const max = 2n ** 63n - 1n
const min = -(2n ** 63n)

const numbers: readonly [string, readonly PlainValue[], Value, Value][] = [
  // what, values, sum, average
  ['nothing', [], integer(0n), nothing],
  ['integers', [1n, 2n, -6n], integer(-3n), double(-1)],
  ['a double among integers', [1n, 2.5], double(3.5), double(1.75)],
  ['a whole beyond 64 bits', [max, 1n], double(2 ** 63), double(2 ** 62)],
  ['a whole below 64 bits', [min, -1n], double(-(2 ** 63)), double(-(2 ** 62))],
  ['an overflow that is taken back', [max, 1n, -1n], integer(max), double(Number(max) / 3)],
  ['the largest and the smallest twice', [max, max, min, min], integer(-2n), double(-0.5)],
  ['integers beyond 2^53', [2n ** 53n, 1n, 1n], integer(2n ** 53n + 2n), double(Number(2n ** 53n + 2n) / 3)],
  ['NaN', [Number.NaN, 1n], double(Number.NaN), double(Number.NaN)],
  ['infinities', [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY], double(Number.NaN), double(Number.NaN)],
  ['an infinity', [Number.POSITIVE_INFINITY, 1n], double(Number.POSITIVE_INFINITY), double(Number.POSITIVE_INFINITY)],
  ['doubles that overflow', [1.5e308, 1.5e308], double(Number.POSITIVE_INFINITY), double(Number.POSITIVE_INFINITY)],
  ['-0.0', [-0], double(0), double(0)],
  ['tenths', Array.from({ length: 10 }, () => 0.1), double(1), double(0.1)],
  ['a small double between large ones', [1e100, 1, -1e100], double(1), double(1 / 3)],
  ['no number', ['x', true, null], integer(0n), nothing],
  [
    'timestamps',
    [5n, -499_999n].map((micros) => ({ type: 'timestamp', micros })),
    integer(-499_994n),
    double(-249_997),
  ],
  ['a timestamp among integers', [{ type: 'timestamp', micros: 5n }, 3n], integer(8n), double(4)],
  ['a timestamp among doubles', [{ type: 'timestamp', micros: 5n }, 0.5], double(5.5), double(2.75)],
  [
    'values that are not indexed',
    [{ type: 'integer', value: 9n, excludeFromIndexes: true }, 3n],
    integer(3n),
    double(3),
  ],
  ['the different values of an array', [[5n, 6n, 6n], 1n], integer(12n), double(4)],
  ['an empty array', [[], 1n], integer(1n), double(1)],
]

test.each(numbers)('a sum and an average over %s', (_what, values, total, average) => {
  expect(over(values, [sum('p'), avg('p')])).toEqual([total, average])
})

const world = [
  entity('A:1', { p: 1n, q: 10n }),
  entity('A:2', { p: 2n }),
  entity('A:3', { q: 20n }),
  entity('A:4', { p: [3n, 4n], q: [1n, 2n] }),
  entity('B:1', { p: 100n }),
]

test('a count is of entities, whether or not they have a property', () => {
  expect(run(world, query({ kind: 'A' }), [count])).toEqual([integer(4n)])
  expect(run(world, query({}), [count])).toEqual([integer(5n)])
  expect(run(world, query({ kind: 'A', order: ['p desc'] }), [count])).toEqual([integer(3n)])
  expect(run(world, query({ kind: 'A', projection: ['p'] }), [count])).toEqual([integer(4n)])
  expect(run(world, query({ kind: 'A', projection: ['__key__'] }), [count])).toEqual([integer(4n)])
})

test('beside a sum a count is of rows that have the property', () => {
  expect(run(world, query({ kind: 'A' }), [sum('p'), count])).toEqual([integer(10n), integer(4n)])
  expect(run(world, query({ kind: 'A', projection: ['p'] }), [sum('p'), count])).toEqual([integer(10n), integer(4n)])
})

test('two sums see what has both properties, once for each combination', () => {
  const values = run(world, query({ kind: 'A' }), [sum('p'), sum('q'), count], { indexes: ['A(p, q)'] })
  expect(values).toEqual([integer(1n + 2n * (3n + 4n)), integer(10n + 2n * (1n + 2n)), integer(5n)])
})

test('limit and offset count results', () => {
  const limited = { kind: 'A', limit: 2 }
  expect(run(world, query(limited), [count])).toEqual([integer(2n)])
  expect(run(world, query({ ...limited, offset: 3 }), [count])).toEqual([integer(1n)])
  expect(run(world, query({ kind: 'A', offset: 9 }), [count])).toEqual([integer(0n)])
  expect(run(world, query({ ...limited, offset: 1 }), [sum('p'), count])).toEqual([integer(5n), integer(2n)])
  expect(run(world, query({ kind: 'A', order: ['p desc'], limit: 2 }), [sum('p')])).toEqual([integer(7n)])
  expect(run(world, query({ kind: 'A', limit: 0 }), [sum('p'), count])).toEqual([integer(0n), integer(0n)])
})

test('up_to caps its own count only', () => {
  expect(run(world, query({ kind: 'A' }), [countUpTo(2n), countUpTo(0n), countUpTo(9n), count])).toEqual(
    [2n, 0n, 4n, 4n].map(integer),
  )
  expect(run(world, query({ kind: 'A' }), [countUpTo(2n), sum('p')])).toEqual([integer(2n), integer(10n)])
})

test('a filter on the aggregated property chooses its values', () => {
  const asked = (filter: Query['filter']) => run(world, query({ kind: 'A', filter }), [sum('p'), count])
  expect(asked(where('p', '>=', 2n))).toEqual([integer(9n), integer(3n)])
  expect(asked(where('p', '!=', 3n))).toEqual([integer(7n), integer(3n)])
  expect(asked(where('p', 'in', [1n, 4n]))).toEqual([integer(5n), integer(2n)])
  expect(asked(where('p', '=', 3n))).toEqual([integer(3n), integer(1n)])
  expect(asked(where('p', 'in', [4n]))).toEqual([integer(4n), integer(1n)])
  expect(asked(and(where('p', '=', 4n), where('p', '=', 3n)))).toEqual([integer(3n), integer(1n)])
  expect(asked(where('p', '=', { type: 'timestamp', micros: 3n }))).toEqual([integer(3n), integer(1n)])
})

test('an equality on the aggregated property in a part of an OR chooses there only', () => {
  const filter = or(where('p', '=', 1n), where('q', '=', 2n))
  const values = run(world, query({ kind: 'A', filter }), [sum('p'), count], { indexes: ['A(q, p)'] })
  expect(values).toEqual([integer(8n), integer(3n)])
})

test('an order by key matters only where a part is wanted', () => {
  expect(run(world, query({ kind: 'A', order: ['__key__ desc'] }), [sum('p')])).toEqual([integer(10n)])
  expect(run(world, query({ kind: 'A', order: ['__key__'], limit: 2 }), [sum('p'), count])).toEqual([
    integer(3n),
    integer(2n),
  ])
  expect(run(world, query({ kind: 'A', order: ['__key__ desc'], limit: 2 }), [sum('p')])).toEqual([integer(7n)])
})

test('a sum with a filter on another property names the index that it needs', () => {
  expect(() => run(world, query({ kind: 'A', filter: where('q', '=', 10n) }), [sum('p')])).toThrow(
    expect.objectContaining({ code: 'FAILED_PRECONDITION', message: expect.stringContaining('A(q, p)') }),
  )
})

test('a count in key order reads index rows alone', () => {
  for (const asked of [
    query({ kind: 'A' }),
    query({ kind: 'A', filter: where('p', '=', 3n) }),
    query({ kind: 'A', filter: and(where('p', '=', 3n), where('q', '=', 1n)) }),
  ]) {
    const ledger = new RecordingLedger()
    run(world, asked, [count], { ledger })
    expect(ledger.entries.map(({ table }) => table)).not.toContain('Entities')
  }
})

test('a sum reads the index rows of its property alone, arrays or not', () => {
  const ledger = new RecordingLedger()
  run(world, query({ kind: 'A' }), [sum('p'), avg('p'), count], { ledger })
  expect(new Set(ledger.entries.map(({ table }) => table))).toEqual(new Set(['EntitiesByPropertyAsc']))
  expect(ledger.entries.reduce((rows, entry) => rows + entry.rows, 0)).toBe(4)
})

test('a count in the order of a property looks only at entities with several values of it', () => {
  const ledger = new RecordingLedger()
  run(world, query({ kind: 'A', order: ['p'] }), [count], { ledger })
  expect(ledger.entries.filter(({ table }) => table === 'Entities')).toHaveLength(2)
})

test('counting up to n reads n rows, and up to 0 none', () => {
  const many = Array.from({ length: 300 }, (_, i) => entity(`A:${i + 1}`))
  const rowsRead = (aggregations: readonly Aggregation[], parts: Partial<Query> = {}) => {
    const ledger = new RecordingLedger()
    run(many, query({ kind: 'A', ...parts, order: [] }), aggregations, { ledger })
    return ledger.entries.reduce((rows, entry) => rows + entry.rows, 0)
  }
  expect(rowsRead([countUpTo(7n)])).toBe(7)
  expect(rowsRead([countUpTo(7n)], { offset: 5 })).toBe(12)
  expect(rowsRead([countUpTo(7n), countUpTo(9n)])).toBe(9)
  expect(rowsRead([countUpTo(0n)])).toBe(0)
  expect(rowsRead([count], { limit: 3 })).toBe(3)
  expect(rowsRead([count])).toBe(300)
})

test('names are those given, and property_1, property_2, … for the rest', () => {
  const named = (...aliases: (string | undefined)[]) =>
    aggregatedRead(
      { query: query({ kind: 'A' }), aggregations: aliases.map((alias) => ({ ...count, alias })) },
      queryDatabase,
    ).aggregated
  expect(named(undefined, 'x', undefined, '')).toEqual(['property_1', 'x', 'property_2', 'property_3'])
  expect(named('a.b', '1 ü')).toEqual(['a.b', '1 ü'])
})

const refused: readonly [string, Query, readonly Aggregation[], RegExp][] = [
  ['no aggregations', query({ kind: 'A' }), [], /at least one/],
  [
    'six aggregations',
    query({ kind: 'A' }),
    Array.from({ length: 6 }, () => count),
    /aggregation query is 5\. Received: 6/,
  ],
  [
    'an alias twice',
    query({ kind: 'A' }),
    [
      { ...count, alias: 'x' },
      { ...sum('p'), alias: 'x' },
    ],
    /"x" is used twice/,
  ],
  [
    'a default alias twice',
    query({ kind: 'A' }),
    [{ ...count, alias: 'property_1' }, count],
    /"property_1" is used twice/,
  ],
  ['a reserved alias', query({ kind: 'A' }), [{ ...count, alias: '__x__' }], /"__x__" is reserved/],
  ['an alias of 1501 bytes', query({ kind: 'A' }), [{ ...count, alias: 'x'.repeat(1501) }], /1501 bytes, at most 1500/],
  ['a sum of a name of 1501 bytes', query({ kind: 'A' }), [sum('x'.repeat(1501))], /1501 bytes, at most 1500/],
  ['a negative up_to', query({ kind: 'A' }), [countUpTo(-1n)], /up_to of a count is -1/],
  ['a sum of no property', query({ kind: 'A' }), [sum('')], /names no property/],
  ['a sum of keys', query({ kind: 'A' }), [sum('__key__')], /not supported for the property: __key__/],
  [
    'an average of a reserved property',
    query({ kind: 'A' }),
    [avg('__foo__')],
    /not supported for the property: __foo__/,
  ],
  ['a sum over all kinds', query({}), [sum('p')], /name a kind/],
  ['a sum over keys only', query({ kind: 'A', projection: ['__key__'] }), [sum('p')], /keys only/],
  ['a sum of what is not projected', query({ kind: 'A', projection: ['q'] }), [sum('p')], /does not project p/],
  ['a negative limit', query({ kind: 'A', limit: -1 }), [count], /limit is -1/],
  ['a broken cursor', query({ kind: 'A', startCursor: Uint8Array.of(9) }), [count], /start cursor cannot be read/],
]

test.each(refused)('%s is refused', (_what, asked, aggregations, message) => {
  expect(() => run(world, asked, aggregations)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringMatching(message) }),
  )
})

test('a count goes on from a cursor and stops at one', () => {
  const many = Array.from({ length: 9 }, (_, i) => entity(`A:${i + 1}`))
  const asked = query({ kind: 'A', limit: 4 })
  const planned = plan(normalize(asked, queryDatabase), [])
  const context = requestContext({ clock: new VirtualClock() })
  const page = atOnce(
    execute({ context, view: new KvTableView(storeOf(many)), plan: planned }, windowOf(asked, planned)),
  )
  const cursor = page.endCursor
  expect(run(many, query({ kind: 'A', startCursor: cursor }), [count])).toEqual([integer(5n)])
  expect(run(many, query({ kind: 'A', endCursor: cursor }), [count])).toEqual([integer(4n)])
  expect(run(many, query({ kind: 'A', endCursor: cursor, offset: 1, limit: 2 }), [count])).toEqual([integer(2n)])
})
