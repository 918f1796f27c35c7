import { type Condition, type Operand, parseGql, printGql, type SelectStatement } from '@sixtables/gateway/browser'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { filterFor, formOf, NoForm, type QueryForm, statementOf } from './query-form.ts'
import type { ApiValue } from './value-words.ts'

const parse = (text: string) => parseGql(text, { allowLiterals: true })

function form(text: string): QueryForm {
  const found = formOf(parse(text))
  if (found instanceof NoForm) throw found
  return found
}

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const name = fc.oneof(
  fc.constantFrom('a', 'b.c', '__key__', 'order'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }),
)
const key: fc.Arbitrary<Operand> = fc.record({
  type: fc.constant('keyLiteral' as const),
  partition: fc.option(fc.constant({ projectId: '', databaseId: '', namespaceId: 'n' }), { nil: undefined }),
  path: fc.array(fc.record({ kind: name, idOrName: fc.oneof(int64, name) }), { minLength: 1, maxLength: 3 }),
})
const scalar: fc.Arbitrary<Operand> = fc.oneof(
  fc.constant<Operand>({ type: 'null' }),
  fc.boolean().map((value): Operand => ({ type: 'boolean', value })),
  int64.map((value): Operand => ({ type: 'integer', value })),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value): Operand => ({ type: 'double', value })),
  fc.string({ unit: 'grapheme' }).map((value): Operand => ({ type: 'string', value })),
  fc.uint8Array({ maxLength: 9 }).map((value): Operand => ({ type: 'blob', value })),
  fc
    .bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n })
    .map((micros): Operand => ({ type: 'timestamp', micros })),
  key,
)
const operand = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 3 }).map((values) => ({ type: 'arrayLiteral', values }) as Operand),
)
const comparison: fc.Arbitrary<Condition> = fc.record({
  type: fc.constant('comparison' as const),
  property: name,
  operator: fc.constantFrom(
    '=' as const,
    '!=' as const,
    '<' as const,
    '>=' as const,
    'IN' as const,
    'NOT IN' as const,
    'HAS ANCESTOR' as const,
  ),
  operand,
})
const statement: fc.Arbitrary<SelectStatement> = fc.record({
  type: fc.constant('select' as const),
  fields: fc.constantFrom([], ['__key__']),
  distinct: fc.constant(false as const),
  kind: fc.option(name, { nil: undefined }),
  where: fc.oneof(
    fc.constant(undefined),
    comparison,
    fc.array(comparison, { minLength: 2, maxLength: 4 }).map((conditions): Condition => ({ type: 'and', conditions })),
  ),
  order: fc.array(
    fc.record({ property: name, direction: fc.constantFrom('ascending' as const, 'descending' as const) }),
    { maxLength: 2 },
  ),
  limit: fc.oneof(
    fc.constant([]),
    fc.nat(999_999_999).map((value) => [{ type: 'count' as const, value: BigInt(value) }]),
  ),
  offset: fc.constant([]),
})

test('query-form/QF1: a statement goes through its form, and through GQL, unchanged', () => {
  fc.assert(
    fc.property(statement, (tree) => {
      const shown = formOf(tree)
      if (shown instanceof NoForm) throw shown
      const back = statementOf(shown)
      expect(back).toEqual(tree)
      expect(formOf(parse(printGql(back)))).toEqual(shown)
    }),
    { numRuns: 300 },
  )
})

test('a form shows each part of a query', () => {
  const gql =
    "SELECT * FROM Task WHERE done = FALSE AND due < DATETIME('2030-01-01T00:00:00Z') AND __key__ HAS ANCESTOR KEY(List, 'a b') AND n IN ARRAY(1, 2) ORDER BY due DESC LIMIT 10"
  expect(form(gql)).toEqual({
    kind: 'Task',
    keysOnly: false,
    filters: [
      { property: 'done', operator: '=', value: { type: 'boolean', text: 'FALSE' } },
      { property: 'due', operator: '<', value: { type: 'timestamp', text: '2030-01-01T00:00:00Z' } },
      { property: '__key__', operator: 'HAS ANCESTOR', value: { type: 'key', text: 'List:"a b"' } },
      { property: 'n', operator: 'IN', value: { type: 'gql', text: 'ARRAY(1, 2)' } },
    ],
    order: [{ property: 'due', direction: 'descending' }],
    limit: '10',
  })
  expect(printGql(statementOf(form(gql)))).toBe(gql)
})

describe('a value is filtered as it is', () => {
  const home = { project: 'p', database: 'd', namespace: 'n' }
  const key = (projectId: string, databaseId?: string, namespaceId?: string): ApiValue => ({
    keyValue: {
      partitionId: { projectId, ...(databaseId && { databaseId }), ...(namespaceId && { namespaceId }) },
      path: [{ kind: 'K', id: '5' }],
    },
  })
  test.each<readonly [ApiValue, string | undefined]>([
    [key('p', 'd', 'n'), 'KEY(K, 5)'],
    [key('p', 'd', 'm'), "KEY(NAMESPACE('m'), K, 5)"],
    [key('p', 'd'), "KEY(NAMESPACE(''), K, 5)"],
    [key('p', 'e'), "KEY(DATABASE('e'), K, 5)"],
    [key('o', undefined, 'm'), "KEY(PROJECT('o'), NAMESPACE('m'), K, 5)"],
    [key('p', undefined, 'n'), undefined],
    [{ doubleValue: '-0' }, '-0.0'],
    [{ doubleValue: 1e21 }, '1e+21'],
    [{ doubleValue: 'NaN' }, undefined],
    [{ timestampValue: '0001-01-01T00:00:00.000007Z' }, "DATETIME('0001-01-01T00:00:00.000007Z')"],
    [{ blobValue: '+/8=' }, "BLOB('-_8')"],
    [{ blobValue: '' }, "BLOB('')"],
    [{ stringValue: "it's" }, "'it''s'"],
    [{ stringValue: 'long', excludeFromIndexes: true }, undefined],
  ])('%j', (value, literal) => {
    const filter = filterFor('a', value, home)
    if (literal === undefined || filter === undefined) return expect(filter).toBe(literal)
    const gql = printGql(statementOf({ kind: 'K', keysOnly: false, filters: [filter], order: [], limit: '' }))
    expect(gql).toBe(`SELECT * FROM K WHERE a = ${literal}`)
    expect(parse(gql)).toBeTruthy()
  })
})

describe('what a form cannot show stays GQL', () => {
  test.each([
    ['SELECT * FROM K WHERE a = 1 OR b = 2', 'OR'],
    ['SELECT * FROM K WHERE a = 1 AND (b = 2 AND c = 3)', 'parentheses'],
    ['SELECT a FROM K', 'a projection'],
    ['SELECT DISTINCT a FROM K', 'DISTINCT'],
    ['SELECT * FROM K LIMIT 5 OFFSET 2', 'OFFSET'],
    ['SELECT * FROM K WHERE a = @x', 'a binding'],
    ['SELECT * FROM K WHERE a IN ARRAY(1, @x)', 'a binding'],
    ['SELECT COUNT(*) FROM K', 'an aggregation'],
  ])('%s', (gql, reason) => {
    expect(formOf(parse(gql))).toEqual(new NoForm(reason))
  })
})

describe('inputs that make no query are told at their place', () => {
  const plain: QueryForm = { kind: 'K', keysOnly: false, filters: [], order: [], limit: '' }
  const ofValue = (type: QueryForm['filters'][number]['value']['type'], text: string): QueryForm => ({
    ...plain,
    filters: [{ property: 'a', operator: '=', value: { type, text } }],
  })
  test.each([
    [ofValue('integer', 'ten'), 0, /whole number/],
    [ofValue('integer', '9223372036854775808'), 0, /64 bits/],
    [ofValue('double', ''), 0, /number/],
    [ofValue('timestamp', '2030-01-31'), 0, /2030-01-31T23:59:59Z/],
    [ofValue('blob', 'a+b'), 0, /base64/],
    [ofValue('key', 'ToDo'), 0, /id or a name/],
    [ofValue('gql', '1 AND b = 2'), 0, /literal of GQL/],
    [ofValue('gql', '1 LIMIT 5'), 0, /literal of GQL/],
    [{ ...plain, filters: [{ ...ofValue('string', '').filters[0], property: '' }] }, 0, /Name the property/],
    [{ ...plain, limit: 'few' }, 'limit', /whole number/],
  ] as const)('%j', (wrong, where, message) => {
    expect(() => statementOf(wrong as QueryForm)).toThrow(
      expect.objectContaining({ where, message: expect.stringMatching(message) }),
    )
  })
})
