import { describe, expect, test } from 'vitest'
import { parseGql } from './parse.ts'
import { printGql } from './print.ts'
import type { Condition, SelectStatement, Statement } from './syntax.ts'

const parse = (text: string, allowLiterals = true): Statement => parseGql(text, { allowLiterals })

const star: SelectStatement = {
  type: 'select',
  fields: [],
  distinct: false,
  kind: 'K',
  where: undefined,
  order: [],
  limit: [],
  offset: [],
}

function condition(text: string): Condition | undefined {
  const statement = parse(`SELECT * FROM K WHERE ${text}`)
  return statement.type === 'select' ? statement.where : undefined
}

function operand(text: string): unknown {
  const where = condition(`a = ${text}`)
  return where?.type === 'comparison' ? where.operand : where
}

const count = (value: bigint) => ({ type: 'count', value })
const site = (name: string | number) => ({ type: 'binding', site: name })

describe('statements', () => {
  test.each<[string, Partial<SelectStatement>]>([
    ['SELECT * FROM K', {}],
    ['select * from K', {}],
    [' SELECT\t*\r\nFROM K\n', {}],
    ['SELECT *', { kind: undefined }],
    ['SELECT * FROM `my kind`', { kind: 'my kind' }],
    ['SELECT * FROM key', { kind: 'key' }],
    ['SELECT * FROM Größe', { kind: 'Größe' }],
    ['SELECT a FROM K', { fields: ['a'] }],
    ['SELECT a, b.c, `d e`.`f``g` FROM K', { fields: ['a', 'b.c', 'd e.f`g'] }],
    ['SELECT a . b FROM K', { fields: ['a.b'] }],
    ['SELECT __key__ FROM K', { fields: ['__key__'] }],
    ['SELECT DISTINCT a, b FROM K', { fields: ['a', 'b'], distinct: true }],
    ['SELECT DISTINCT ON (a) * FROM K', { distinct: ['a'] }],
    ['SELECT DISTINCT ON (a, b.c) d FROM K', { fields: ['d'], distinct: ['a', 'b.c'] }],
    ['SELECT * FROM K ORDER BY a', { order: [{ property: 'a', direction: 'ascending' }] }],
    [
      'SELECT * FROM K order by a asc, `b` desc',
      {
        order: [
          { property: 'a', direction: 'ascending' },
          { property: 'b', direction: 'descending' },
        ],
      },
    ],
    ['SELECT * FROM K LIMIT 5', { limit: [count(5n)] as never }],
    ['SELECT * FROM K LIMIT +5 OFFSET 0', { limit: [count(5n)] as never, offset: [count(0n)] as never }],
    ['SELECT * FROM K LIMIT @1', { limit: [site(1)] as never }],
    ['SELECT * FROM K LIMIT first (@c, 3)', { limit: [site('c'), count(3n)] as never }],
    ['SELECT * FROM K OFFSET @c', { offset: [site('c')] as never }],
    ['SELECT * FROM K OFFSET @c + 17', { offset: [site('c'), count(17n)] as never }],
    ['SELECT * FROM K OFFSET @c + @n', { offset: [site('c'), site('n')] as never }],
  ])('%s', (text, parts) => {
    expect(parse(text)).toEqual({ ...star, ...parts })
  })

  test('an aggregation in its short form is the long one', () => {
    const aggregations = [
      { operator: 'count', upTo: undefined, alias: 'n' },
      { operator: 'count', upTo: 5n, alias: undefined },
      { operator: 'sum', property: 'a.b', alias: 'my sum' },
      { operator: 'avg', property: 'c', alias: undefined },
    ]
    const terms = 'COUNT(*) AS n, count_up_to (5), Sum(a.b) as `my sum`, AVG(c)'
    const long = parse(`AGGREGATE ${terms} OVER (SELECT * FROM K WHERE d = 1)`)
    expect(long).toEqual({ type: 'aggregate', aggregations, over: { ...star, where: condition('d = 1') } })
    expect(parse(`SELECT ${terms} FROM K WHERE d = 1`)).toEqual(long)
    expect(parse('SELECT COUNT(*)')).toEqual(parse('AGGREGATE COUNT(*) OVER (SELECT *)'))
  })

  test('the long form aggregates over any query', () => {
    const text = 'SELECT DISTINCT a FROM K ORDER BY a DESC LIMIT 5 OFFSET 2'
    expect(parse(`AGGREGATE COUNT(*) OVER (${text})`)).toMatchObject({ over: parse(text) })
  })
})

describe('conditions', () => {
  const compare = (property: string, operator: string, value: bigint) => ({
    type: 'comparison',
    property,
    operator,
    operand: { type: 'integer', value },
  })
  const a = compare('a', '=', 1n)
  const b = compare('b', '=', 2n)
  const c = compare('c', '=', 3n)

  test.each<[string, unknown]>([
    ['a = 1', a],
    ['1 = a', a],
    ['a!=1', compare('a', '!=', 1n)],
    ['1 != a', compare('a', '!=', 1n)],
    ['a < 1', compare('a', '<', 1n)],
    ['1 < a', compare('a', '>', 1n)],
    ['a <= 1', compare('a', '<=', 1n)],
    ['1 <= a', compare('a', '>=', 1n)],
    ['a > 1', compare('a', '>', 1n)],
    ['1 > a', compare('a', '<', 1n)],
    ['a >=-1', compare('a', '>=', -1n)],
    ['1 >= a', compare('a', '<=', 1n)],
    ['a CONTAINS 1', compare('a', 'IN', 1n)],
    ['1 IN a', compare('a', 'IN', 1n)],
    ['a in 1', compare('a', 'IN', 1n)],
    ['a NOT IN 1', compare('a', 'NOT IN', 1n)],
    ['a NOT CONTAINS 1', compare('a', 'NOT IN', 1n)],
    ['a IS NULL', { ...a, operand: { type: 'null' } }],
    ['a = NULL', { ...a, operand: { type: 'null' } }],
    ['a . b.`c d` = 1', compare('a.b.c d', '=', 1n)],
    ['key = 1', compare('key', '=', 1n)],
    ['`order` = 1', compare('order', '=', 1n)],
    ['(a = 1)', a],
    ['((a = 1))', a],
    ['a = 1 AND b = 2 AND c = 3', { type: 'and', conditions: [a, b, c] }],
    ['a = 1 OR b = 2 OR c = 3', { type: 'or', conditions: [a, b, c] }],
    ['a = 1 OR b = 2 AND c = 3', { type: 'or', conditions: [a, { type: 'and', conditions: [b, c] }] }],
    ['(a = 1 OR b = 2) AND c = 3', { type: 'and', conditions: [{ type: 'or', conditions: [a, b] }, c] }],
    ['(a = 1 AND b = 2) AND c = 3', { type: 'and', conditions: [{ type: 'and', conditions: [a, b] }, c] }],
    ['a=1AND b=2', { type: 'and', conditions: [a, b] }],
  ])('%s', (text, tree) => {
    expect(condition(text)).toEqual(tree)
  })

  test('an ancestor stands on either side', () => {
    const tree = condition("__key__ HAS ANCESTOR KEY(K, 'x')")
    expect(tree).toMatchObject({ property: '__key__', operator: 'HAS ANCESTOR', operand: { type: 'keyLiteral' } })
    expect(condition("KEY(K, 'x') HAS DESCENDANT __key__")).toEqual(tree)
    expect(condition('@a HAS DESCENDANT __key__')).toEqual({ ...tree, operand: site('a') })
  })
})

describe('values', () => {
  const text = (value: string) => ({ type: 'string', value })
  const double = (value: number) => ({ type: 'double', value })
  const integer = (value: bigint) => ({ type: 'integer', value })
  const time = (iso: string, micros = 0n) => ({ type: 'timestamp', micros: BigInt(Date.parse(iso)) * 1000n + micros })
  const blob = (...bytes: number[]) => ({ type: 'blob', value: Uint8Array.from(bytes) })

  test.each<[string, unknown]>([
    ['NULL', { type: 'null' }],
    ['true', { type: 'boolean', value: true }],
    ['FALSE', { type: 'boolean', value: false }],
    ['0123', integer(123n)],
    ['-0', integer(0n)],
    ['9223372036854775807', integer(2n ** 63n - 1n)],
    ['-9223372036854775808', integer(-(2n ** 63n))],
    ['1.5', double(1.5)],
    ['-1.5e10', double(-1.5e10)],
    ['1e3', double(1000)],
    ['1E+3', double(1000)],
    ['1.', double(1)],
    ['.5', double(0.5)],
    ['-.5e-1', double(-0.05)],
    ['-0.0', double(-0)],
    ['1e999', double(Number.POSITIVE_INFINITY)],
    ["''", text('')],
    ["'it''s'", text("it's")],
    ['"q""q"', text('q"q')],
    ["'it\\'s'", text("it's")],
    ['"\'"', text("'")],
    ["'\\\\ \\' \\\" \\` \\0 \\b \\n \\r \\t \\Z \\% \\_'", text('\\ \' " ` \0 \b \n \r \t \x1a \\% \\_')],
    ["'ä😀\t'", text('ä😀\t')],
    ['@x', site('x')],
    ['@x$_9', site('x$_9')],
    ['@select', site('select')],
    ['@01', site(1)],
    ["DATETIME('2020-01-02T03:04:05Z')", time('2020-01-02T03:04:05Z')],
    ["datetime ('2020-01-02t03:04:05.1z')", time('2020-01-02T03:04:05.100Z')],
    ["DATETIME('2020-01-02T03:04:05.123456Z')", time('2020-01-02T03:04:05.123Z', 456n)],
    ["DATETIME('2020-01-02T03:04:05+02:30')", time('2020-01-02T00:34:05Z')],
    ["DATETIME('2020-01-02T03:04:05-02:00')", time('2020-01-02T05:04:05Z')],
    ['DATETIME("1969-12-31T23:59:59.5Z")', { type: 'timestamp', micros: -500_000n }],
    ["DATETIME('0001-01-01T00:00:00Z')", { type: 'timestamp', micros: -62_135_596_800_000_000n }],
    ["DATETIME('9999-12-31T23:59:59.999999Z')", { type: 'timestamp', micros: 253_402_300_799_999_999n }],
    ["DATETIME('2020-02-29T00:00:00Z')", time('2020-02-29T00:00:00Z')],
    ["BLOB('AQID')", blob(1, 2, 3)],
    ["BLOB('AQ')", blob(1)],
    ["BLOB('-_-_')", blob(0xfb, 0xff, 0xbf)],
    ["BLOB('')", blob()],
    ['ARRAY()', { type: 'arrayLiteral', values: [] }],
    ["ARRAY(1, @x, 'y')", { type: 'arrayLiteral', values: [integer(1n), site('x'), text('y')] }],
  ])('%s', (literal, value) => {
    expect(operand(literal)).toEqual(value)
  })

  const parts = (projectId: string, databaseId: string, namespaceId: string) => ({ projectId, databaseId, namespaceId })

  test.each<[string, unknown, unknown]>([
    ['KEY(K, 1)', undefined, [{ kind: 'K', idOrName: 1n }]],
    [
      "key (`my k`, -1, L, 'x')",
      undefined,
      [
        { kind: 'my k', idOrName: -1n },
        { kind: 'L', idOrName: 'x' },
      ],
    ],
    ['KEY(PROJECT, 1)', undefined, [{ kind: 'PROJECT', idOrName: 1n }]],
    ["KEY(PROJECT('p'), K, 1)", parts('p', '', ''), [{ kind: 'K', idOrName: 1n }]],
    ["KEY(NAMESPACE('n'), K, 1)", parts('', '', 'n'), [{ kind: 'K', idOrName: 1n }]],
    ["KEY(PROJECT('p'), DATABASE('d'), NAMESPACE(\"\"), K, 1)", parts('p', 'd', ''), [{ kind: 'K', idOrName: 1n }]],
  ])('%s', (literal, partition, path) => {
    expect(operand(literal)).toEqual({ type: 'keyLiteral', partition, path })
  })
})

describe('what does not fit is refused with its place', () => {
  test.each<[string, number, RegExp]>([
    ['', 1, /found the end of the query, but expected SELECT or AGGREGATE/],
    ['   ', 4, /found the end of the query/],
    ['DELETE FROM K', 1, /found "DELETE", but expected SELECT/],
    ['SELECT FROM K', 8, /found "FROM", but expected a property, or \*, DISTINCT or an aggregation/],
    ['SELECT a, * FROM K', 11, /found "\*", but expected a property/],
    ['SELECT *, a FROM K', 9, /found ",", but expected FROM, WHERE, .*the end of the query/],
    ['SELECT a AS b FROM K', 10, /found "AS"/],
    ['SELECT a b FROM K', 10, /found "b"/],
    ['SELECT on FROM K', 8, /found "on", but expected .*on is reserved, so write `on`/],
    ['SELECT DISTINCT * FROM K', 17, /found "\*", but expected ON or a property/],
    ['SELECT DISTINCT ON a * FROM K', 20, /found "a", but expected "\("/],
    ['SELECT DISTINCT ON () * FROM K', 21, /found "\)", but expected a property/],
    ['SELECT DISTINCT COUNT(*) FROM K', 17, /aggregations stand alone/],
    ['SELECT * FROM select', 15, /select is reserved/],
    ['SELECT * FROM K.L', 16, /found "\."/],
    ['SELECT * FROM K, L', 16, /found ","/],
    ['SELECT * FROM @k', 15, /found "@k", but expected a kind/],
    ['SELECT * FROM K;', 16, /found ";", which begins nothing in GQL/],
    ['SELECT * FROM K -- c', 17, /found "-", which begins nothing/],
    ['SELECT * FROM K /* c */', 17, /found "\/"/],
    ['SELECT\u00a0* FROM K', 1, /expected SELECT/],
    ['SELECT * FROM K WHERE', 22, /found the end of the query, but expected a condition/],
    ['SELECT * FROM K WHERE a', 24, /expected an operator/],
    ['SELECT * FROM K WHERE a =', 26, /found the end of the query, but expected a value/],
    ['SELECT * FROM K WHERE a == 1', 26, /found "=", but expected a value; did you mean =\?/],
    ['SELECT * FROM K WHERE a <> 1', 26, /found ">", but expected a value; did you mean !=\?/],
    ['SELECT * FROM K WHERE a => 1', 26, /found ">", but expected a value; did you mean >=\?/],
    ['SELECT * FROM K WHERE a =< 1', 26, /found "<", but expected a value; did you mean <=\?/],
    ['SELECT * FROM K WHERE a CONTIANS 1', 25, /expected an operator: .*; did you mean CONTAINS\?/],
    ['SELECT * FORM K', 10, /found "FORM", but expected FROM, .*; did you mean FROM\?/],
    ['SELCT * FROM K', 1, /found "SELCT", but expected SELECT or AGGREGATE; did you mean SELECT\?/],
    ['SELECT * FROM K other', 17, /expected WHERE, ORDER BY, LIMIT, OFFSET, the end of the query$/],
    ['SELECT * FROM K WHERE a ! = 1', 25, /found "!"/],
    ["SELECT * FROM K WHERE a LIKE 'x'", 25, /found "LIKE", but expected an operator/],
    ['SELECT * FROM K WHERE NOT a = 1', 23, /found "NOT", but expected a condition/],
    ['SELECT * FROM K WHERE a IS NOT NULL', 28, /expected NULL; there is no IS NOT NULL/],
    ['SELECT * FROM K WHERE a NOT = 1', 29, /expected IN or CONTAINS/],
    ['SELECT * FROM K WHERE a IN (1, 2)', 28, /found "\(", but expected a value/],
    ['SELECT * FROM K WHERE a IN b', 28, /found "b", but expected a value; properties are compared with values only/],
    ['SELECT * FROM K WHERE a = FOO(1)', 27, /the functions are KEY, DATETIME, BLOB, ARRAY/],
    ['SELECT * FROM K WHERE GEOPOINT(1, 2) = a', 23, /the functions are/],
    ['SELECT * FROM K WHERE 1 = 1', 27, /found "1", but expected a property/],
    ['SELECT * FROM K WHERE 1 NOT IN a', 25, /found "NOT"/],
    ['SELECT * FROM K WHERE 1a = 1', 24, /found "a"/],
    ['SELECT * FROM K WHERE a..b = 1', 25, /found "\.", but expected a name after the point/],
    ['SELECT * FROM K WHERE (a) = 1', 25, /found "\)", but expected an operator/],
    ['SELECT * FROM K WHERE (a = 1', 29, /expected AND, OR or "\)"/],
    [
      'SELECT * FROM K WHERE a = 1)',
      28,
      /found "\)", but expected AND, OR, ORDER BY, LIMIT, OFFSET, the end of the query/,
    ],
    ['SELECT * FROM K WHERE ()', 24, /expected a condition/],
    ['SELECT * FROM K WHERE a = ARRAY(1,)', 35, /found "\)", but expected a value/],
    ['SELECT * FROM K WHERE a = ARRAY(ARRAY(1))', 33, /arrays hold no arrays/],
    ['SELECT * FROM K WHERE __key__ HAS PARENT KEY(K, 1)', 35, /expected ANCESTOR/],
    ['SELECT * FROM K WHERE ANCESTOR IS KEY(K, 1)', 23, /found "ANCESTOR"/],
    ['SELECT * FROM K ORDER a', 23, /expected BY/],
    ['SELECT * FROM K ORDER BY a DESCENDING', 28, /found "DESCENDING", but expected LIMIT, OFFSET, the end/],
    ['SELECT * FROM K LIMIT 1.5', 23, /found "1\.5", but expected an integer, a binding or FIRST/],
    ['SELECT * FROM K LIMIT foo(1, 2)', 23, /expected an integer/],
    ['SELECT * FROM K LIMIT 1, 2', 24, /found ",", but expected OFFSET, the end of the query/],
    ['SELECT * FROM K LIMIT FIRST(@c)', 31, /expected ","/],
    ['SELECT * FROM K OFFSET 1 LIMIT 1', 26, /found "LIMIT", but expected "\+", the end of the query/],
    ['SELECT * FROM K OFFSET @c+1', 26, /found "\+1"/],
    ['SELECT * FROM K OFFSET @c + 1 + 1', 31, /found "\+", but expected the end of the query/],
    ["SELECT * FROM K WHERE a = 'x", 27, /the string that begins here has no end/],
    ["SELECT * FROM K WHERE a = 'x\\", 27, /the string that begins here has no end/],
    ['SELECT * FROM `K', 15, /the name that begins here has no end/],
    ["SELECT * FROM K WHERE a = 'x\ny'", 29, /a line break inside a string/],
    ["SELECT * FROM K WHERE a = '\\q'", 28, /found the escape "\\\\q"/],
    ["SELECT * FROM K WHERE a = 'x' 'y'", 31, /found "'y'"/],
    ['SELECT * FROM K WHERE a = 9223372036854775808', 27, /more than 64 bits/],
    [`SELECT * FROM K WHERE a = ${'9'.repeat(60)}`, 27, /found the integer "9{40}…", which/],
    ['SELECT * FROM K WHERE a = - 1', 27, /found "-"/],
    ['SELECT * FROM K WHERE a = 1e', 27, /whose exponent is missing/],
    ['SELECT * FROM K WHERE a = @', 27, /found "@" alone/],
    ['SELECT * FROM K WHERE a = @ x', 27, /found "@" alone/],
    ['SELECT * FROM K WHERE a = @0', 27, /bindings are numbered from @1/],
    ['SELECT * FROM K WHERE a = @1x', 27, /does not start with a digit/],
    ['SELECT * FROM K WHERE a = KEY(K)', 32, /expected ","/],
    ['SELECT * FROM K WHERE a = KEY()', 31, /expected a kind/],
    ["SELECT * FROM K WHERE a = KEY('K', 1)", 31, /found "'K'", but expected a kind/],
    ['SELECT * FROM K WHERE a = KEY(K, 1, L)', 38, /expected ","/],
    ['SELECT * FROM K WHERE a = KEY(K, @1)', 34, /expected an id \(an integer\) or a name \(a string\)/],
    ['SELECT * FROM K WHERE a = KEY(K.L, 1)', 32, /expected ","/],
    [
      "SELECT * FROM K WHERE a = KEY(DATASET('p'), K, 1)",
      31,
      /found "DATASET", but expected PROJECT, DATABASE, NAMESPACE/,
    ],
    ["SELECT * FROM K WHERE a = KEY(NAMESPACE('n'), PROJECT('p'), K, 1)", 47, /PROJECT comes first/],
    ['SELECT * FROM K WHERE a = KEY(PROJECT(p), K, 1)', 39, /expected a string/],
    ['SELECT * FROM K WHERE a = DATETIME(2020)', 36, /expected a string: a time/],
    ["SELECT * FROM K WHERE a = DATETIME('2020-01-02')", 36, /expected a time such as/],
    ["SELECT * FROM K WHERE a = DATETIME('2020-01-02T03:04:05')", 36, /expected a time/],
    ["SELECT * FROM K WHERE a = DATETIME('2020-01-02T03:04:05.1234567Z')", 36, /expected a time/],
    ["SELECT * FROM K WHERE a = DATETIME('2020-02-30T03:04:05Z')", 36, /expected a time/],
    ["SELECT * FROM K WHERE a = DATETIME('2020-02-28T24:00:00Z')", 36, /expected a time/],
    ["SELECT * FROM K WHERE a = DATETIME('2020-02-28T23:59:60Z')", 36, /expected a time/],
    ["SELECT * FROM K WHERE a = DATETIME('0000-01-01T00:00:00Z')", 36, /expected a time/],
    ["SELECT * FROM K WHERE a = DATETIME('9999-12-31T23:59:59-01:00')", 36, /expected a time/],
    ["SELECT * FROM K WHERE a = BLOB('AQ==')", 32, /expected base64/],
    ["SELECT * FROM K WHERE a = BLOB('+/+/')", 32, /expected base64/],
    ["SELECT * FROM K WHERE a = BLOB('A')", 32, /expected base64/],
    ['SELECT * FROM K WHERE a = blob', 31, /expected "\("/],
    ['SELECT MIN(a) FROM K', 11, /there is no function MIN: use COUNT, COUNT_UP_TO, SUM, AVG/],
    ['SELECT COUNT(a) FROM K', 14, /found "a", but expected "\*"/],
    ['SELECT COUNT() FROM K', 14, /found "\)"/],
    ['SELECT COUNT(*) n FROM K', 17, /found "n"/],
    ['SELECT COUNT(*), a FROM K', 18, /found "a", but expected an aggregation/],
    ['SELECT a, COUNT(*) FROM K', 11, /found "COUNT"/],
    ['SELECT SUM(*) FROM K', 12, /found "\*", but expected a property/],
    ['SELECT COUNT_UP_TO(@n) FROM K', 20, /expected an integer/],
    ['SELECT COUNT_UP_TO(1.5) FROM K', 20, /expected an integer/],
    ['SELECT COUNT(*) AS a.b FROM K', 21, /found "\."/],
    ['SELECT COUNT(*) AS count FROM K', 20, /count is reserved/],
    ['SELECT COUNT(*) FROM K LIMIT 2', 24, /for LIMIT write AGGREGATE … OVER \(SELECT … LIMIT …\)/],
    ['AGGREGATE COUNT(*)', 19, /expected OVER/],
    ['AGGREGATE OVER (SELECT *)', 11, /expected an aggregation/],
    ['AGGREGATE COUNT(*) OVER SELECT *', 25, /expected "\("/],
    ['AGGREGATE COUNT(*) OVER ()', 26, /expected SELECT/],
    ['AGGREGATE COUNT(*) OVER (SELECT * FROM K', 41, /expected WHERE, ORDER BY, LIMIT, OFFSET, "\)"/],
    ['AGGREGATE COUNT(*) OVER (SELECT COUNT(*) FROM K)', 33, /an aggregation inside of OVER/],
    ['AGGREGATE COUNT(*) OVER (SELECT *) LIMIT 1', 36, /expected the end of the query/],
  ])('%s', (text, column, message) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', at: column - 1, message: expect.stringMatching(message) }),
    )
    expect(() => parse(text)).toThrow(`GQL, line 1, column ${column}: `)
  })

  test('the place is told by line and column', () => {
    expect(() => parse('SELECT *\nFROM K\n  WHERE = 1')).toThrow(
      'GQL, line 3, column 9: found "=", but expected a condition',
    )
  })

  test('GROUP BY is refused as such', () => {
    expect(() => parse('SELECT a FROM K GROUP BY a')).toThrow(/GROUP BY is not part of the language/)
  })

  test('conditions cannot nest without end', () => {
    const text = `SELECT * FROM K WHERE ${'('.repeat(100_000)}a = 1`
    expect(() => parse(text)).toThrow(/nest deeper than 100/)
  })
})

describe('without allow_literals', () => {
  test.each([
    'SELECT * FROM K WHERE a = 1',
    'SELECT * FROM K WHERE a = 1.5',
    "SELECT * FROM K WHERE a = 'x'",
    'SELECT * FROM K WHERE a = NULL',
    'SELECT * FROM K WHERE a IS NULL',
    'SELECT * FROM K WHERE a = TRUE',
    'SELECT * FROM K WHERE a = KEY(K, 1)',
    "SELECT * FROM K WHERE a = BLOB('AQ')",
    "SELECT * FROM K WHERE a = DATETIME('2020-01-02T03:04:05Z')",
    'SELECT * FROM K WHERE a IN ARRAY(@x)',
    'SELECT * FROM K LIMIT 1',
    'SELECT * FROM K OFFSET 1',
    'SELECT * FROM K OFFSET @c + 1',
    'SELECT COUNT_UP_TO(1) FROM K',
  ])('%s is refused', (text) => {
    expect(() => parse(text, false)).toThrow(
      /found the literal ".*", but allowLiterals \(allow_literals\) is false: bind the value as @name, or set it to true/,
    )
    expect(() => parse(text)).not.toThrow()
  })

  test('names and bindings are no literals', () => {
    const text = 'SELECT DISTINCT ON (a) * FROM K WHERE a IN @x ORDER BY a LIMIT FIRST(@c, @n) OFFSET @c + @n'
    expect(printGql(parse(text, false))).toBe(text)
  })
})
