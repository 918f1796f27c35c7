import { expect, test } from 'vitest'
import { DatastoreError } from '../errors.ts'
import type { Filter } from '../model/query.ts'
import type { Value } from '../model/value.ts'
import { and, key, or, type QueryWords, query, queryDatabase, where } from '../testing/query-world.ts'
import { normalize } from './normalize.ts'

const asked = (words: QueryWords) => normalize(query(words), queryDatabase)

/** The complete order of a query in words. */
function order(words: QueryWords): string {
  const { columns, reverse } = asked(words)
  const names = columns.map(({ property, direction }) => (direction === 'descending' ? `${property} desc` : property))
  return [...names, reverse ? 'key desc' : 'key'].join(', ')
}

const ints = (count: number) => Array.from({ length: count }, (_, i) => BigInt(i))
const excluded = { type: 'integer', value: 1n, excludeFromIndexes: true } as const
const long = 'x'.repeat(1501)
const blob = (bytes: number): Value => ({ type: 'blob', value: new Uint8Array(bytes) })
const unequal = (count: number) => ints(count).map((n) => where(`p${n}`, '>', 0n))
const embedded = { type: 'entity', properties: new Map() } as const

test.each<[string, QueryWords, RegExp]>([
  ['a negative limit', { kind: 'A', limit: -1 }, /limit is -1/],
  ['a negative offset', { kind: 'A', offset: -1 }, /offset is -1/],
  ['a kindless filter on a property', { filter: where('p', '=', 1n) }, /without kind .* not on p/],
  ['a kindless order by a property', { order: ['p'] }, /without kind .* not by p/],
  ['a kindless order by key descending', { order: ['__key__ desc'] }, /__key__ ascending only/],
  ['a kindless projection', { projection: ['p'] }, /without kind .* project p/],
  ['a projection of a reserved property', { kind: 'A', projection: ['__foo__'] }, /__foo__ is reserved/],
  ['a projection of one property twice', { kind: 'A', projection: ['p', 'p'] }, /p is projected twice/],
  [
    'a projection of a fixed property',
    { kind: 'A', projection: ['p'], filter: where('p', '=', 1n) },
    /equality filter/,
  ],
  ['an order before the distinct properties', { kind: 'A', distinctOn: ['p'], order: ['q', 'p'] }, /distinct-on/],
  ['a composite filter without filters', { kind: 'A', filter: and() }, /holds no filters/],
  ['a filter value marked unindexed', { kind: 'A', filter: where('p', '=', excluded) }, /marked unindexed/],
  ['equality with an array', { kind: 'A', filter: where('p', '=', [1n]) }, /compared with an array/],
  ['comparison with an entity', { kind: 'A', filter: where('p', '=', embedded) }, /p\.<field>/],
  ['a key compared with an integer', { kind: 'A', filter: where('__key__', '=', 1n) }, /must be compared with a key/],
  ['an incomplete key', { kind: 'A', filter: where('__key__', '=', key('A:1/A:?')) }, /A:1\/A:\? is incomplete/],
  ['an incomplete key as a value', { kind: 'A', filter: where('p', '=', key('A:?')) }, /A:\? is incomplete/],
  ['a key with id 0', { kind: 'A', filter: where('__key__', '>', key('A:0')) }, /A:0 has the id 0/],
  ['a key with an empty name', { kind: 'A', filter: where('p', 'in', [key('A:""')]) }, /has an empty name/],
  ['a key of another namespace', { kind: 'A', filter: where('__key__', '=', key('A:1', 'n')) }, /namespace "n"/],
  ['an ancestor filter on a property', { kind: 'A', filter: where('p', 'under', key('A:1')) }, /__key__ only/],
  ['an ancestor that is no key', { kind: 'A', filter: where('__key__', 'under', 1n) }, /must be a key/],
  [
    'two ancestors',
    { kind: 'A', filter: and(where('__key__', 'under', key('A:1')), where('__key__', 'under', key('A:2'))) },
    /two ancestors, \[A:1\] and \[A:2\]/,
  ],
  [
    'parts of an OR with different ancestors',
    { kind: 'A', filter: or(where('__key__', 'under', key('A:1')), where('p', '=', 1n)) },
    /one common ancestor/,
  ],
  ['IN without values', { kind: 'A', filter: where('p', 'in', []) }, /at least one value/],
  ['IN without an array', { kind: 'A', filter: where('p', 'in', 1n) }, /needs an array/],
  [
    'NOT_IN beside IN',
    { kind: 'A', filter: and(where('p', 'not in', ints(2)), where('q', 'in', ints(2))) },
    /NOT_IN may hold no IN/,
  ],
  [
    'NOT_IN within OR',
    { kind: 'A', filter: or(where('p', 'not in', ints(2)), where('q', '=', 1n)) },
    /NOT_IN may hold no IN and no OR/,
  ],
  [
    'a projected property with an IN',
    { kind: 'A', projection: ['p'], filter: where('p', 'in', ints(2)) },
    /p is projected and has an equality/,
  ],
  ['IN with 31 values', { kind: 'A', filter: where('p', 'in', ints(31)) }, /31 values; at most 30/],
  ['NOT_IN with 11 values', { kind: 'A', filter: where('p', 'not in', ints(11)) }, /11 values; at most 10/],
  ['two NOT_EQUAL', { kind: 'A', filter: and(where('p', '!=', 1n), where('p', '!=', 2n)) }, /one NOT_EQUAL or NOT_IN/],
  [
    'more than 30 disjunctions',
    { kind: 'A', filter: and(where('p', 'in', ints(6)), where('q', 'in', ints(6))) },
    /36 disjunctions/,
  ],
  ['an order by an empty name', { kind: 'A', order: [''] }, /name is empty/],
  ['a filter on an empty name', { kind: 'A', filter: where('', '=', 1n) }, /name is empty/],
  ['a string of 1501 bytes', { kind: 'A', filter: where('p', '=', long) }, /p is compared with has 1501 bytes/],
  ['a string of 751 letters of two bytes', { kind: 'A', filter: where('p', '<', 'é'.repeat(751)) }, /1502 bytes/],
  ['a blob of 1501 bytes', { kind: 'A', filter: where('p', '!=', blob(1501)) }, /1501 bytes/],
  ['a string of 1501 bytes in an IN', { kind: 'A', filter: where('p', 'in', [1n, long]) }, /1501 bytes/],
  ['a string of 1501 bytes in a NOT_IN', { kind: 'A', filter: where('p', 'not in', [long]) }, /1501 bytes/],
  ['a kind of 1501 bytes', { kind: long }, /the kind of the query has 1501 bytes/],
  ['a filter on a name of 1501 bytes', { kind: 'A', filter: where(long, '=', 1n) }, /filtered property has 1501 bytes/],
  ['an order by a name of 1501 bytes', { kind: 'A', order: [long] }, /ordered property has 1501 bytes/],
  ['a projection of a name of 1501 bytes', { kind: 'A', projection: [long] }, /projected property has 1501 bytes/],
  ['distinct on a name of 1501 bytes', { kind: 'A', distinctOn: [long] }, /distinct-on property has 1501 bytes/],
  ['inequalities on 11 properties', { kind: 'A', filter: and(...unequal(11)) }, /on 11 properties; at most 10/],
  ['inequalities on 11 properties of an OR', { kind: 'A', filter: or(...unequal(11)) }, /on 11 properties/],
  [
    'inequalities on 10 properties and the key',
    { kind: 'A', filter: and(...unequal(10), where('__key__', '>', key('A:1'))) },
    /on 11 properties/,
  ],
  [
    'inequalities on 10 properties and NOT_EQUAL on another',
    { kind: 'A', filter: and(...unequal(10), where('q', '!=', 1n)) },
    /on 11 properties/,
  ],
  [
    'inequalities on 11 properties, one of them implied',
    { kind: 'A', filter: and(...unequal(11), where('p0', '=', 1n)) },
    /on 11 properties/,
  ],
  ['101 orders', { kind: 'A', order: ints(101).map((n) => `p${n}`) }, /101 filters and orders; at most 100/],
  ['101 projected properties', { kind: 'A', projection: ints(101).map((n) => `p${n}`) }, /projects 101 properties/],
  ['101 distinct properties', { kind: 'A', distinctOn: ints(101).map((n) => `p${n}`) }, /distinct on 101 properties/],
  [
    '101 filters',
    { kind: 'A', filter: and(...ints(101).map((n) => where('p', '=', n))) },
    /101 filters and orders; at most 100/,
  ],
  ['an empty kind', { kind: '' }, /kind of the query is empty/],
  [
    'a partition of another project',
    { kind: 'A', partition: { projectId: 'other', databaseId: '', namespaceId: '' } },
    /other/,
  ],
  [
    'an illegal namespace',
    { kind: 'A', partition: { projectId: 'p', databaseId: '', namespaceId: 'a b' } },
    /illegal namespace "a b"/,
  ],
])('%s is refused', (_, words, message) => {
  let error: unknown
  try {
    asked(words)
  } catch (thrown) {
    error = thrown
  }
  expect(error).toBeInstanceOf(DatastoreError)
  expect((error as DatastoreError).code).toBe('INVALID_ARGUMENT')
  expect((error as DatastoreError).message).toMatch(message)
})

test.each<[string, QueryWords]>([
  ['a reserved kind', { kind: '__foo__' }],
  ['a projection of a property and the key', { kind: 'A', projection: ['p', '__key__'] }],
  ['distinct without projection', { kind: 'A', distinctOn: ['p'] }],
  ['one property ordered twice', { kind: 'A', order: ['p', 'p desc'] }],
  ['inequalities on two properties', { kind: 'A', filter: and(where('p', '>', 1n), where('q', '>', 1n)) }],
  ['an inequality that is not ordered first', { kind: 'A', filter: where('p', '>', 1n), order: ['q'] }],
  ['a string of 1500 bytes', { kind: 'A', filter: where('p', '=', long.slice(1)) }],
  ['a blob of 1500 bytes', { kind: 'A', filter: where('p', '=', blob(1500)) }],
  ['names of 1500 bytes', { kind: long.slice(1), filter: where(long.slice(1), '=', 1n) }],
  ['inequalities on 10 properties', { kind: 'A', filter: and(...unequal(10), ...unequal(10)) }],
  ['IN with 30 values', { kind: 'A', filter: where('p', 'in', ints(30)) }],
  ['NOT_IN with 10 values', { kind: 'A', filter: where('p', 'not in', ints(10)) }],
])('%s is accepted', (_, words) => {
  expect(asked(words).disjuncts.length).toBeGreaterThan(0)
})

const values: Readonly<Record<string, Value>> = {
  string: { type: 'string', value: 'a' },
  integer: { type: 'integer', value: 7n },
  'microseconds since 1970': { type: 'integer', value: 1_600_000_000_000_000n },
  'geo point': { type: 'geoPoint', latitude: 1, longitude: 2 },
  blob: blob(2),
  boolean: { type: 'boolean', value: true },
  null: { type: 'null' },
  double: { type: 'double', value: 1.5 },
  timestamp: { type: 'timestamp', micros: 5n },
  key: { type: 'key', key: key('A:1') },
  entity: embedded,
}

/** Measured: what both of Google's emulators accept in a filter, but for 23, which the newer one does not let store. */
const meanings: readonly (readonly [meaning: number, types: readonly string[]])[] = [
  [-1, []],
  [7, []],
  [8, ['string']],
  [9, []],
  [13, ['integer']],
  [14, []],
  [15, []],
  [16, ['blob']],
  [18, Object.keys(values).filter((type) => type !== 'timestamp' && type !== 'entity')],
  [20, ['entity']],
  [22, []],
  [23, ['geo point']],
  [24, []],
  [30, ['integer', 'microseconds since 1970']],
  [99, []],
]

test.each(meanings)('a filter takes values of meaning %i that a property could have: %j', (meaning, types) => {
  const taken = (filter: Filter): boolean => {
    try {
      return asked({ kind: 'A', filter }).disjuncts.length > 0
    } catch (error) {
      expect(error).toMatchObject({ code: 'INVALID_ARGUMENT' })
      return false
    }
  }
  const found = (filterBy: (value: Value) => Filter) =>
    Object.keys(values).filter((type) => taken(filterBy({ ...(values[type] as Value), meaning })))
  expect(found((value) => where('p', '=', value))).toEqual(types)
  expect(found((value) => where('p', '>=', value))).toEqual(types)
  expect(found((value) => where('p', 'in', [1n, value]))).toEqual(types)
  expect(found((value) => where('__key__', '=', value))).toEqual(types.filter((type) => type === 'key'))
})

test.each<[string, QueryWords, string]>([
  ['nothing asked', {}, 'key'],
  ['a final key order', { order: ['p', '__key__'] }, 'p, key'],
  ['a repeated order', { order: ['p', 'p desc', 'q'] }, 'p, q, key'],
  ['an order by a fixed property', { filter: where('p', '=', 1n), order: ['p', 'q'] }, 'q, key'],
  ['an order by a property with several values', { filter: where('p', 'in', [1n, 2n]), order: ['p'] }, 'p, key'],
  ['orders after the key', { order: ['__key__ desc', 'p'] }, 'key desc'],
  ['one key', { filter: where('__key__', '=', key('A:1')), order: ['p', '__key__ desc'] }, 'key'],
  ['an inequality', { filter: where('p', '>', 1n) }, 'p, key'],
  ['an inequality after an order', { filter: where('p', '>', 1n), order: ['q desc'] }, 'q desc, p, key'],
  ['two inequalities', { filter: and(where('q', '>', 1n), where('p', '<', 1n)) }, 'p, q, key'],
  ['an implied inequality', { filter: and(where('p', '>', 1n), where('p', '=', 2n)) }, 'key'],
  ['a projection', { projection: ['q', 'p'] }, 'p, q, key'],
  ['an ordered projection', { projection: ['q', 'p'], order: ['q desc'] }, 'q desc, p, key'],
  ['distinct and projection', { projection: ['p', 'q'], distinctOn: ['q'] }, 'q, p, key'],
])('the order of %s is complete', (_, words, expected) => {
  expect(order({ kind: 'A', ...words })).toBe(expected)
})

test('in a reverse query the columns are coded the other way round', () => {
  expect(asked({ kind: 'A', order: ['p', 'q desc', '__key__ desc'] }).columns.map((c) => c.inverted)).toEqual([
    true,
    false,
  ])
  expect(asked({ kind: 'A', order: ['p', 'q desc'] }).columns.map((c) => c.inverted)).toEqual([false, true])
})

test('a filter that contradicts itself has no disjuncts', () => {
  expect(asked({ kind: 'A', filter: and(where('p', '>', 2n), where('p', '<', 1n)) }).disjuncts).toEqual([])
  const apart = and(where('__key__', '>', key('A:2')), where('__key__', '<', key('A:1')))
  expect(asked({ kind: 'A', filter: apart }).disjuncts).toEqual([])
})

test('the shape follows names, directions, kind and namespace, and no values', () => {
  const shape = (words: QueryWords) => asked({ kind: 'A', ...words }).shape
  const p1 = shape({ filter: where('p', '=', 1n) })
  expect(shape({ filter: where('p', '=', 2n) })).toBe(p1)
  expect(shape({ filter: where('p', '=', 1n), limit: 3, projection: ['__key__'] })).toBe(p1)
  const others: QueryWords[] = [
    {},
    { filter: where('q', '=', 1n) },
    { filter: where('p', '>', 1n) },
    { filter: where('p', '=', 1n), order: ['q'] },
    { filter: where('p', '=', 1n), kind: 'B' },
    { filter: and(where('p', '=', 1n), where('__key__', 'under', key('A:1'))) },
    { filter: where('p', '=', 1n), partition: { projectId: 'p', databaseId: '', namespaceId: 'n' } },
  ]
  for (const other of others) expect(shape(other)).not.toBe(p1)
})

test('the key may be projected twice', () => {
  expect(asked({ kind: 'A', projection: ['__key__', '__key__'] }).resultType).toBe('keyOnly')
  const projected = asked({ kind: 'A', projection: ['__key__', 'p', '__key__'] })
  expect([projected.resultType, projected.projection]).toEqual(['projection', ['p']])
})

test('queries that differ in directions alone have one shape', () => {
  const shape = (words: QueryWords) => asked({ kind: 'A', ...words }).shape
  const same = (one: readonly string[], other: readonly string[], more: QueryWords = {}) =>
    expect(shape({ ...more, order: other })).toBe(shape({ ...more, order: one }))
  same([], ['__key__ desc'])
  same(['p', '__key__'], ['p desc', '__key__ desc'])
  same(['p'], ['p desc', '__key__ desc'])
  same(['p desc', 'q', '__key__'], ['p', 'q desc', '__key__ desc'])
  same(['p desc', '__key__ desc'], ['p', '__key__'])
  same([], ['p desc', '__key__ desc'], { filter: where('p', '>', 1n) })
  same(['p', '__key__', 'q'], ['p desc', '__key__ desc', 'q desc'])
  same(['p', '__key__'], ['p desc', '__key__ desc'], { projection: ['p', 'q'] })
  same(['p', '__key__'], ['p desc', '__key__ desc'], { projection: ['p'], distinctOn: ['p'] })
  same(['p'], ['p desc'])
  same(['p', 'q desc'], ['p desc', 'q desc'])
  same(['p'], ['p desc'], { projection: ['p', 'q'] })
  same([], ['p desc'], { projection: ['p', 'q'] })
  expect(new Set([[], ['p'], ['q'], ['p', 'q'], ['q', 'p']].map((order) => shape({ order }))).size).toBe(5)
})

test('what is ordered after the key is told apart from what comes before it', () => {
  const names = (changes: QueryWords) => {
    const { columns, lateColumns } = asked({ kind: 'A', ...changes })
    return [columns, lateColumns].map((each) => each.map(({ property }) => property))
  }
  expect(names({ order: ['p', '__key__', 'q'] })).toEqual([['p'], ['q']])
  expect(names({ order: ['__key__'], filter: where('p', '>', 1n) })).toEqual([[], ['p']])
  expect(names({ order: ['q', '__key__ desc'], projection: ['p'] })).toEqual([['q'], ['p']])
})

test('a filter that asks for several keys orders by the key, before what is projected', () => {
  const names = (changes: QueryWords) => {
    const { columns, lateColumns } = asked({ kind: 'A', projection: ['p'], ...changes })
    return [columns, lateColumns].map((each) => each.map(({ property }) => property))
  }
  const [one, more] = [where('__key__', '=', key('A:1')), where('__key__', '>', key('A:1'))]
  expect(names({ filter: more })).toEqual([[], ['p']])
  expect(names({ filter: or(one, where('__key__', '=', key('A:2'))) })).toEqual([[], ['p']])
  expect(names({ filter: and(more, where('r', '>', 1n)) })).toEqual([['r'], ['p']])
  expect(names({ filter: more, order: ['q'] })).toEqual([['q'], ['p']])
  expect(names({ filter: more, distinctOn: ['p'] })).toEqual([['p'], []])
  expect(names({ filter: one })).toEqual([['p'], []])
  expect(names({ filter: where('__key__', 'under', key('A:1')) })).toEqual([['p'], []])
})

test('distinct properties behind the key are refused', () => {
  expect(() => asked({ kind: 'A', projection: ['p'], distinctOn: ['p'], order: ['__key__'] })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('__key__') }),
  )
})
