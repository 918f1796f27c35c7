import { printGql, type SelectStatement } from '@sixtables/gateway/browser'
import { describe, expect, test } from 'vitest'
import { countOf, countUpTo, findsEntities, keysOf, pageQuery, sortedBy, statementIn } from './statements.ts'

const select = (gql: string): SelectStatement => statementIn(gql) as SelectStatement
const request = { start: undefined, end: undefined, limit: 100, before: 0 }

describe('a page', () => {
  test.each([
    ['SELECT * FROM T', request, 'SELECT * FROM T LIMIT 100'],
    ['SELECT * FROM T', { ...request, start: 'c' }, 'SELECT * FROM T LIMIT 100 OFFSET @page_start'],
    [
      'SELECT * FROM T ORDER BY a DESC',
      { ...request, start: 'c', end: 'd' },
      'SELECT * FROM T ORDER BY a DESC LIMIT FIRST(@page_end, 100) OFFSET @page_start',
    ],
    [
      'SELECT * FROM T LIMIT 130',
      { ...request, start: 'c', before: 100 },
      'SELECT * FROM T LIMIT 30 OFFSET @page_start',
    ],
    [
      'SELECT * FROM T LIMIT 130',
      { ...request, start: 'c', before: 140 },
      'SELECT * FROM T LIMIT 0 OFFSET @page_start',
    ],
    ['SELECT * FROM T LIMIT 5 OFFSET 20', request, 'SELECT * FROM T LIMIT 5 OFFSET 20'],
    ['SELECT * FROM T OFFSET 20', { ...request, start: 'c' }, 'SELECT * FROM T LIMIT 100 OFFSET @page_start'],
  ])('of %s, %j', (gql, asked, query) => {
    const page = pageQuery(select(gql), asked)
    expect(page.queryString).toBe(query)
    for (const name of ['start', 'end'] as const) {
      expect(page.namedBindings?.[`page_${name}`]?.cursor).toBe(asked[name])
    }
  })

  test('goes on where the server stopped within an offset', () => {
    const page = pageQuery(select('SELECT * FROM T OFFSET 2000'), { ...request, start: 'c' }, 1000)
    expect(page.queryString).toBe('SELECT * FROM T LIMIT 100 OFFSET @page_start + 1000')
  })
})

test('a count is of the query without its order, which it keeps within a limit', () => {
  expect(printGql(countOf(select('SELECT * FROM T WHERE a = 1 ORDER BY b')))).toBe(
    'AGGREGATE COUNT(*) AS n OVER (SELECT * FROM T WHERE a = 1)',
  )
  expect(printGql(countOf(select('SELECT * FROM T ORDER BY b LIMIT 5')))).toContain('ORDER BY b LIMIT 5')
  expect(printGql(countUpTo('my kind', 1000))).toBe('AGGREGATE COUNT_UP_TO(1000) AS n OVER (SELECT * FROM `my kind`)')
})

test('a click on a title sorts up, then down, then not at all', () => {
  const orders = ['']
  let statement = select('SELECT * FROM T ORDER BY a, b')
  for (let clicks = 0; clicks < 3; clicks++) {
    statement = sortedBy(statement, 'b')
    orders.push(printGql(statement).slice('SELECT * FROM T'.length))
  }
  expect(orders).toEqual(['', ' ORDER BY b', ' ORDER BY b DESC', ''])
})

test('only whole entities and their keys can be opened and deleted', () => {
  const finds = (gql: string) => findsEntities(select(gql))
  expect(['SELECT *', 'SELECT __key__', 'SELECT a', 'SELECT DISTINCT ON (a) *'].map(finds)).toEqual([
    true,
    true,
    false,
    false,
  ])
  expect(printGql(keysOf(select('SELECT * FROM T WHERE a = 1')))).toBe('SELECT __key__ FROM T WHERE a = 1')
})
