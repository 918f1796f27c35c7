import { expect, test } from 'vitest'
import { and, index, key, or, type QueryWords, query, queryDatabase, where } from '../testing/query-world.ts'
import { planText, planTree } from './explain.ts'
import { MissingIndexError } from './missing-index.ts'
import { normalize } from './normalize.ts'
import { plan } from './plan.ts'

const normal = (words: QueryWords) => normalize(query(words), queryDatabase)

/** The tree of the plan in words. */
function tree(words: QueryWords, indexes: readonly string[] = []): string[] {
  const definitions = indexes.map((each, i) => index(each, BigInt(i + 1)))
  const lines = planText(planTree(plan(normal(words), definitions))).split('\n')
  return lines.slice(0, -1).filter((line) => !line.startsWith('each entity once'))
}

function missing(words: QueryWords, indexes: readonly string[] = []): MissingIndexError {
  try {
    tree(words, indexes)
  } catch (error) {
    if (error instanceof MissingIndexError) return error
    throw error
  }
  throw new Error('the query is served')
}

const under = where('__key__', 'under', key('A:1'))

test.each<[string, QueryWords, string[]]>([
  ['kind', { kind: 'A' }, ['scan EntitiesByKind A']],
  ['kind, key descending', { kind: 'A', order: ['__key__ desc'] }, ['scan EntitiesByKind A backwards']],
  ['kind and ancestor', { kind: 'A', filter: under }, ['scan EntitiesByKind A: __key__ under A:1']],
  ['ancestor only', { filter: under }, ['scan Entities all kinds: __key__ under A:1']],
  [
    'a range of keys',
    { filter: and(where('__key__', '>', key('A:1')), where('__key__', '<=', key('A:3'))) },
    ['scan Entities all kinds: __key__ > A:1 and __key__ <= A:3'],
  ],
  ['one equality', { kind: 'A', filter: where('p', '=', 'x') }, ['scan EntitiesByPropertyAsc A: p = "x"']],
  [
    'two equalities',
    { kind: 'A', filter: and(where('q', '=', 2n), where('p', '=', 1n)) },
    ['mergeJoin by __key__', '  scan EntitiesByPropertyAsc A: p = 1', '  scan EntitiesByPropertyAsc A: q = 2'],
  ],
  [
    'one array property twice, under an ancestor',
    { kind: 'A', filter: and(under, where('p', '=', 1n), where('p', '=', 2n)) },
    [
      'mergeJoin by __key__',
      '  scan EntitiesByPropertyAsc A: p = 1 and __key__ under A:1',
      '  scan EntitiesByPropertyAsc A: p = 2 and __key__ under A:1',
    ],
  ],
  ['an inequality', { kind: 'A', filter: where('p', '>', 1n) }, ['scan EntitiesByPropertyAsc A.p: p > 1']],
  [
    'an inequality, descending',
    { kind: 'A', filter: where('p', '>', 1n), order: ['p desc'] },
    ['scan EntitiesByPropertyDesc A.p: p > 1'],
  ],
  [
    'order and key in opposite directions',
    { kind: 'A', order: ['p', '__key__ desc'] },
    ['scan EntitiesByPropertyDesc A.p backwards'],
  ],
  ['both descending', { kind: 'A', order: ['p desc', '__key__ desc'] }, ['scan EntitiesByPropertyAsc A.p backwards']],
  ['a projection', { kind: 'A', projection: ['p'] }, ['scan EntitiesByPropertyAsc A.p']],
  ['NOT_EQUAL', { kind: 'A', filter: where('p', '!=', 1n) }, ['scan EntitiesByPropertyAsc A.p: (p < 1 or p > 1)']],
  [
    'IN, ordered by the property',
    { kind: 'A', filter: where('p', 'in', [2n, 1n]), order: ['p'] },
    ['scan EntitiesByPropertyAsc A.p: (p = 1 or p = 2)'],
  ],
  [
    'IN',
    { kind: 'A', filter: where('p', 'in', [1n, 2n]) },
    ['union by __key__', '  scan EntitiesByPropertyAsc A: p = 1', '  scan EntitiesByPropertyAsc A: p = 2'],
  ],
  [
    'an inequality and a key',
    { kind: 'A', filter: and(where('p', '>', 1n), where('__key__', '<', key('A:5'))) },
    ['filter __key__ < A:5', '  scan EntitiesByPropertyAsc A.p: p > 1'],
  ],
  [
    'a contradiction',
    { kind: 'A', filter: and(where('p', '>', 2n), where('p', '<', 1n)) },
    ['nothing: the filter contradicts itself'],
  ],
])('built-in rows serve %s', (_, words, expected) => {
  expect(tree(words)).toEqual(expected)
})

test.each<[string, QueryWords, string]>([
  ['equality and inequality', { filter: and(where('p', '=', 1n), where('q', '>', 1n)) }, 'A(p, q)'],
  ['equality and order', { filter: where('q', '=', 1n), order: ['p desc'] }, 'A(q, p desc)'],
  ['two orders', { order: ['q', 'p desc'] }, 'A(q, p desc)'],
  ['ancestor and order', { filter: under, order: ['p'] }, 'A(ancestor, p)'],
  ['ancestor and inequality', { filter: and(under, where('p', '>', 1n)) }, 'A(ancestor, p)'],
  ['a projection of two properties', { projection: ['q', 'p'] }, 'A(p, q)'],
  ['a projection and a filter', { projection: ['p'], filter: where('z', '=', 1n) }, 'A(z, p)'],
  ['distinct of two', { distinctOn: ['q', 'p'] }, 'A(p, q)'],
  ['key descending after others', { order: ['p', 'q', '__key__ desc'] }, 'A(p, q, __key__ desc)'],
  [
    'equalities by name before the rest',
    { filter: and(where('b', '=', 1n), where('a', '=', 1n), where('p', '>', 1n)), order: ['p', 'q desc'] },
    'A(a, b, p, q desc)',
  ],
  ['several inequalities', { filter: and(where('q', '>', 1n), where('p', '>', 1n)) }, 'A(p, q)'],
  ['a part of an OR', { filter: or(where('p', '>', 1n), where('q', '=', 1n)) }, 'A(q, p)'],
])('%s needs a composite index', (_, words, expected) => {
  const error = missing({ kind: 'A', ...words })
  expect(error.code).toBe('FAILED_PRECONDITION')
  expect(error.details['index']).toBe(expected)
  expect(error.message).toContain(expected)
  expect(tree({ kind: 'A', ...words }, [expected]).join('\n')).toContain(`EntitiesByCompositeProperty ${expected}`)
})

test('the error holds the definition as index.yaml has it', () => {
  const { details } = missing({ kind: 'A', filter: under, order: ['p', 'q desc'] })
  expect(details['index.yaml']).toBe(
    '- kind: "A"\n  ancestor: yes\n  properties:\n  - name: "p"\n  - name: "q"\n    direction: desc\n',
  )
})

test('indexes with equal columns are joined', () => {
  const words = { kind: 'A', filter: and(where('a', '=', 1n), where('b', '=', 2n)), order: ['p desc'] }
  expect(tree(words, ['A(b, p desc)', 'A(a, p)', 'A(a, p desc)'])).toEqual([
    'mergeJoin by p desc, __key__',
    '  scan EntitiesByCompositeProperty A(b, p desc): b = 2',
    '  scan EntitiesByCompositeProperty A(a, p desc): a = 1',
  ])
})

test('an index of more columns saves a join, and an ancestor index joins one without', () => {
  const both = and(where('a', '=', 1n), where('b', '=', 2n))
  expect(tree({ kind: 'A', filter: both }, ['A(a, b)'])).toEqual([
    'scan EntitiesByCompositeProperty A(a, b): a = 1 and b = 2',
  ])
  const filter = and(under, where('a', '=', 1n))
  expect(tree({ kind: 'A', filter, order: ['p'] }, ['A(a, p)', 'A(ancestor, p)'])).toEqual([
    'mergeJoin by p, __key__',
    '  scan EntitiesByCompositeProperty A(a, p): a = 1',
    '  scan EntitiesByCompositeProperty A(ancestor, p): under A:1',
  ])
})

test('an index whose key descends serves the opposite order backwards', () => {
  expect(tree({ kind: 'A', order: ['p', 'q desc'] }, ['A(p desc, q, __key__ desc)'])).toEqual([
    'scan EntitiesByCompositeProperty A(p desc, q, __key__ desc) backwards',
  ])
})

test('an ancestor index does not serve a query without ancestor, nor one of another kind', () => {
  const words = { kind: 'A', order: ['p', 'q'] }
  expect(missing(words, ['A(ancestor, p, q)', 'B(p, q)']).details['index']).toBe('A(p, q)')
})

test('a plan survives JSON', () => {
  const filter = and(under, where('p', '=', 1n))
  const planned = plan(normal({ kind: 'A', filter, order: ['q'] }), [index('A(ancestor, p, q)')])
  const copy = JSON.parse(JSON.stringify(planned))
  expect(planText(planTree(copy))).toBe(planText(planTree(planned)))
})
