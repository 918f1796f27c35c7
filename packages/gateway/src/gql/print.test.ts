/** syntax/G1: a printed tree of any shape parses back to the same tree. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseGql } from './parse.ts'
import { printGql } from './print.ts'
import type {
  AggregationTerm,
  BindingSite,
  ComparisonOperator,
  Condition,
  KeyLiteral,
  Operand,
  Order,
  ResultPosition,
  Scalar,
  SelectStatement,
  Statement,
} from './syntax.ts'

/** Text with everything that quoting has to handle, but without lone surrogates, which UTF-8 cannot encode. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom('a', "'", '"', '`', '\\', '\n', '\0', '%', '_', '.', ' ', 'n', '😀'),
    maxLength: 12,
  }),
)
const name = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b1', '_c', '$d', 'Größe', '__key__', 'key', 'first') },
  { weight: 1, arbitrary: fc.constantFrom('select', 'ORDER', 'Count', '1a', 'a b', 'a`b', 'a.b') },
  { weight: 1, arbitrary: text },
)
const property = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.'))
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })

const binding: fc.Arbitrary<BindingSite> = fc
  .oneof(fc.constantFrom('x', '$y_2', 'select', 'ä'), fc.integer({ min: 1, max: 99 }))
  .map((site) => ({ type: 'binding', site }))

const key: fc.Arbitrary<KeyLiteral> = fc.record({
  type: fc.constant('keyLiteral' as const),
  partition: fc.option(fc.record({ projectId: text, databaseId: text, namespaceId: text }), { nil: undefined }),
  path: fc.array(fc.record({ kind: name, idOrName: fc.oneof(int64, text) }), { minLength: 1, maxLength: 3 }),
})

const scalar: fc.Arbitrary<Scalar> = fc.oneof(
  fc.constant<Scalar>({ type: 'null' }),
  fc.boolean().map((value): Scalar => ({ type: 'boolean', value })),
  int64.map((value): Scalar => ({ type: 'integer', value })),
  fc.double({ noNaN: true }).map((value): Scalar => ({ type: 'double', value })),
  text.map((value): Scalar => ({ type: 'string', value })),
  fc.uint8Array({ maxLength: 9 }).map((value): Scalar => ({ type: 'blob', value })),
  fc
    .bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n })
    .map((micros): Scalar => ({ type: 'timestamp', micros })),
  key,
  binding,
)

const operand: fc.Arbitrary<Operand> = fc.oneof(
  { weight: 4, arbitrary: scalar },
  {
    weight: 1,
    arbitrary: fc.array(scalar, { maxLength: 4 }).map((values): Operand => ({ type: 'arrayLiteral', values })),
  },
)

const operator = fc.constantFrom<ComparisonOperator>('=', '!=', '<', '<=', '>', '>=', 'IN', 'NOT IN', 'HAS ANCESTOR')

const { condition } = fc.letrec<{ condition: Condition; comparison: Condition; chain: Condition }>((tie) => ({
  condition: fc.oneof({ maxDepth: 3, withCrossShrink: true }, tie('comparison'), tie('chain')),
  comparison: fc.record({ type: fc.constant('comparison' as const), property, operator, operand }),
  chain: fc.record({
    type: fc.constantFrom('and' as const, 'or' as const),
    conditions: fc.array(tie('condition'), { minLength: 2, maxLength: 3 }),
  }),
}))

const order: fc.Arbitrary<Order> = fc.record({
  property,
  direction: fc.constantFrom('ascending' as const, 'descending' as const),
})

const position: fc.Arbitrary<ResultPosition> = fc.oneof(
  int64.map((value): ResultPosition => ({ type: 'count', value })),
  binding,
)

const projected = fc.oneof(
  fc.record({ fields: fc.array(property, { maxLength: 3 }), distinct: fc.constant(false as const) }),
  fc.record({ fields: fc.array(property, { minLength: 1, maxLength: 3 }), distinct: fc.constant(true as const) }),
  fc.record({
    fields: fc.array(property, { maxLength: 3 }),
    distinct: fc.array(property, { minLength: 1, maxLength: 2 }),
  }),
)

const select: fc.Arbitrary<SelectStatement> = fc
  .tuple(
    projected,
    fc.record({
      type: fc.constant('select' as const),
      kind: fc.option(name, { nil: undefined }),
      where: fc.option(condition, { nil: undefined }),
      order: fc.array(order, { maxLength: 2 }),
      limit: fc.array(position, { maxLength: 2 }),
      offset: fc.array(position, { maxLength: 2 }),
    }),
  )
  .map(([fields, rest]) => ({ ...rest, ...fields }))

const alias = fc.option(name, { nil: undefined })

const term: fc.Arbitrary<AggregationTerm> = fc.oneof(
  fc.record({ operator: fc.constant('count' as const), upTo: fc.option(int64, { nil: undefined }), alias }),
  fc.record({ operator: fc.constantFrom('sum' as const, 'avg' as const), property, alias }),
)

const statement: fc.Arbitrary<Statement> = fc.oneof(
  { weight: 3, arbitrary: select },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('aggregate' as const),
      aggregations: fc.array(term, { minLength: 1, maxLength: 5 }),
      over: select,
    }),
  },
)

test('a tree that is printed parses back to itself', () => {
  fc.assert(
    fc.property(statement, (tree) => {
      expect(parseGql(printGql(tree), { allowLiterals: true })).toEqual(tree)
    }),
    { numRuns: 400 },
  )
})

test('any text is parsed or refused as INVALID_ARGUMENT', () => {
  const words = fc.constantFrom(
    ...'SELECT * , ( ) FROM WHERE K a . = != < AND OR NOT IN IS NULL HAS ANCESTOR CONTAINS KEY ARRAY DATETIME BLOB'.split(
      ' ',
    ),
    ...'1 -2.5 1e9 @x @1 + LIMIT OFFSET FIRST ORDER BY DESC AGGREGATE OVER COUNT SUM AS DISTINCT ON'.split(' '),
    "'x'",
    '`k`',
  )
  const texts = fc.oneof(
    fc.array(words, { maxLength: 15 }).map((all) => `SELECT * FROM K WHERE ${all.join(' ')}`),
    fc.array(words, { maxLength: 15 }).map((all) => all.join(' ')),
    text,
  )
  fc.assert(
    fc.property(texts, (gql) => {
      let tree: Statement
      try {
        tree = parseGql(gql, { allowLiterals: true })
      } catch (error) {
        expect(error).toMatchObject({ code: 'INVALID_ARGUMENT' })
        return
      }
      expect(parseGql(printGql(tree), { allowLiterals: true })).toEqual(tree)
    }),
    { numRuns: 500 },
  )
})
