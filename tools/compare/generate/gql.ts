/** GQL: queries written out, with literals or bindings; and lines that are odd, or no GQL at all. */
import fc from 'fast-check'
import type { Plain } from '../../../packages/gateway/test/support/published-protos.ts'
import { at, type Case, listOf, type Mode } from '../case.ts'
import { queries, worlds } from './queries.ts'
import { runQuery } from './steps.ts'
import { integer, mixed, string } from './values.ts'

interface Bindings {
  readonly named: { [name: string]: Plain }
  readonly positional: Plain[]
}

const operators: Readonly<Record<string, string>> = {
  EQUAL: '=',
  LESS_THAN: '<',
  LESS_THAN_OR_EQUAL: '<=',
  GREATER_THAN: '>',
  GREATER_THAN_OR_EQUAL: '>=',
  NOT_EQUAL: '!=',
  IN: 'IN',
  NOT_IN: 'NOT IN',
  HAS_ANCESTOR: 'HAS ANCESTOR',
}

/** How values are said: as literals where GQL has them, else by names, or by numbers. */
type How = 'literals' | 'names' | 'numbers'

function bound(value: Plain, how: How, bindings: Bindings): string {
  if (how === 'names') {
    const name = `v${Object.keys(bindings.named).length}`
    bindings.named[name] = { value }
    return `@${name}`
  }
  bindings.positional.push({ value })
  return `@${bindings.positional.length}`
}

function valueText(value: Plain, how: How, bindings: Bindings): string {
  return (how === 'literals' ? literal(value) : undefined) ?? bound(value, how, bindings)
}

function literal(value: Plain): string | undefined {
  const { nullValue, booleanValue, integerValue, stringValue, blobValue, timestampValue, keyValue, doubleValue } = value
  if (nullValue !== undefined) return 'NULL'
  if (booleanValue !== undefined) return String(booleanValue).toUpperCase()
  if (integerValue !== undefined) return String(integerValue)
  if (stringValue !== undefined) return `'${String(stringValue).replaceAll("'", "''")}'`
  if (blobValue !== undefined) return `BLOB('${Buffer.from(blobValue as Uint8Array).toString('base64')}')`
  if (timestampValue !== undefined) {
    const { seconds, nanos } = timestampValue as { seconds: string; nanos: number }
    return `DATETIME('${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}.${String(nanos).padStart(9, '0').slice(0, 6)}Z')`
  }
  if (keyValue !== undefined) {
    const path = listOf(at(keyValue, ['path'])).map(({ kind, id, name }) => `${kind}, ${id ?? `'${name}'`}`)
    return `KEY(${path.join(', ')})`
  }
  const isSayable = typeof doubleValue === 'number' && Number.isFinite(doubleValue) && !Object.is(doubleValue, -0)
  return isSayable ? doubleValue.toFixed(2) : undefined
}

function condition(filter: Plain, how: How, bindings: Bindings): string {
  const composite = filter['compositeFilter']
  if (composite !== undefined) {
    const filters = listOf(at(composite, ['filters'])).map((one) => condition(one, how, bindings))
    return `(${filters.join(` ${at(composite, ['op'])} `)})`
  }
  const name = String(at(filter, ['propertyFilter', 'property', 'name']))
  const operator = operators[String(at(filter, ['propertyFilter', 'op']))] ?? '?'
  const value = at(filter, ['propertyFilter', 'value']) as Plain
  if (value['arrayValue'] === undefined) return `${name} ${operator} ${valueText(value, how, bindings)}`
  const values = listOf(at(value, ['arrayValue', 'values'])).map((one) => valueText(one, how, bindings))
  return `${name} ${operator} ARRAY(${values.join(', ')})`
}

const named = (list: unknown): readonly string[] =>
  listOf(list).map((one) => String(at(one, ['property', 'name']) ?? one['name']))

function gqlOf(query: Plain, how: How, tail: string): Plain {
  const bindings: Bindings = { named: {}, positional: [] }
  const select = named(query['projection'])
  const distinct = named(query['distinctOn'])
  const words = ['SELECT', ...(distinct.length > 0 ? ['DISTINCT'] : []), select.length === 0 ? '*' : select.join(', ')]
  const kind = listOf(query['kind'])[0]?.['name']
  if (kind !== undefined) words.push('FROM', String(kind))
  if (query['filter'] !== undefined) words.push('WHERE', condition(query['filter'] as Plain, how, bindings))
  const orders = listOf(query['order']).map(
    (one) => `${at(one, ['property', 'name'])}${one['direction'] === 'DESCENDING' ? ' DESC' : ''}`,
  )
  if (orders.length > 0) words.push('ORDER BY', orders.join(', '))
  return {
    queryString: [...words, tail].join(' ').trim(),
    allowLiterals: how === 'literals',
    namedBindings: bindings.named,
    positionalBindings: bindings.positional,
  }
}

const odd = fc.constantFrom(
  'select * from K where a = 1',
  'SELECT * FROM `K` WHERE `a` = 1',
  "SELECT * FROM K WHERE a = 'it''s'",
  "SELECT * FROM K WHERE a = 'a\\'b'",
  'SELECT * FROM K WHERE a = "x"',
  'SELECT * FROM K WHERE 1 < a',
  'SELECT * FROM K WHERE 1 IN a',
  'SELECT * FROM K WHERE a CONTAINS 1',
  'SELECT * FROM K WHERE a IS NULL',
  'SELECT * FROM K WHERE a = NULL',
  'SELECT * FROM K WHERE a = +1',
  'SELECT * FROM K WHERE a = -1',
  'SELECT * FROM K WHERE a = 1e1',
  'SELECT * FROM K WHERE a = .5',
  'SELECT * FROM K WHERE a = 1.',
  'SELECT * FROM K WHERE a = 9223372036854775807',
  'SELECT * FROM K WHERE a = 9223372036854775808',
  'SELECT * FROM K WHERE a == 1',
  'SELECT * FROM K WHERE a <> 1',
  'SELECT * FROM K WHERE a LIKE 1',
  'SELECT * FROM K WHERE a IN (1)',
  'SELECT * FROM K WHERE a IN ARRAY(1)',
  'SELECT * FROM K WHERE a = 1;',
  'SELECT * FROM K -- comment',
  'SELECT * FROM',
  'SELECT FROM K',
  'SELECT *',
  'SELECT a AS b FROM K',
  'SELECT * FROM K GROUP BY a',
  'SELECT DISTINCT a FROM K',
  'SELECT DISTINCT ON (a) * FROM K',
  'SELECT DISTINCT ON (a) a, b FROM K',
  'SELECT DISTINCT * FROM K',
  'SELECT __key__, a FROM K',
  'SELECT a, a FROM K',
  'SELECT * FROM K LIMIT 1',
  'SELECT * FROM K LIMIT 0',
  'SELECT * FROM K LIMIT -1',
  'SELECT * FROM K OFFSET 1',
  'SELECT * FROM K LIMIT 1 OFFSET 1',
  'SELECT * FROM K OFFSET 1 LIMIT 1',
  'SELECT * FROM K LIMIT FIRST(@1, 1)',
  'SELECT * FROM K LIMIT @1',
  'SELECT * FROM K WHERE a = @1',
  'SELECT * FROM K WHERE a = @x',
  'SELECT * FROM K WHERE a = @2',
  'SELECT * FROM K WHERE __key__ = KEY(K, 1)',
  "SELECT * FROM K WHERE __key__ = KEY(NAMESPACE('n'), K, 1)",
  "SELECT * FROM K WHERE __key__ = KEY(PROJECT('other'), K, 1)",
  'SELECT * FROM K WHERE __key__ = KEY(K)',
  "SELECT * FROM K WHERE __key__ HAS ANCESTOR KEY(K, 'a')",
  "SELECT * FROM K WHERE KEY(K, 'a') HAS DESCENDANT __key__",
  'SELECT * FROM K WHERE ANCESTOR IS KEY(K, 1)',
  "SELECT * FROM K WHERE a = DATETIME('2020-01-01T00:00:00Z')",
  "SELECT * FROM K WHERE a = DATETIME('2020-01-01')",
  "SELECT * FROM K WHERE a = BLOB('YQ==')",
  "SELECT * FROM K WHERE a = BLOB('YQ')",
  'SELECT * FROM K WHERE a = GEOPOINT(1, 1)',
  'SELECT * FROM K WHERE NOT a = 1',
  'SELECT * FROM K WHERE a = TRUE AND b = false',
  'SELECT * FROM K ORDER BY a ASC, b DESC',
  'SELECT * FROM K ORDER BY',
  'SELECT * FROM K WHERE e.x = 1',
  'SELECT * FROM K WHERE `e`.`x` = 1',
  'SELECT COUNT(*) FROM K',
  'SELECT  *\n\tFROM K',
  'FROM K SELECT *',
  "SELECT * FROM 'K'",
  'SELECT * FROM __kind__',
  'SELECT * FROM order',
  'SELECT order FROM K',
  '',
)

export function gqlCases(mode: Mode): fc.Arbitrary<Case> {
  const tails = fc.constantFrom('', '', '', 'LIMIT 2', 'OFFSET 1', 'LIMIT 2 OFFSET 1')
  const written = fc
    .tuple(queries(mode), fc.constantFrom<How>('literals', 'literals', 'names', 'numbers'), tails)
    .map(([query, how, tail]) => ({ query, gqlQuery: gqlOf(query, how, how === 'literals' ? tail : '') }))
  const bindings = fc.constantFrom<Plain>(
    {},
    { positionalBindings: [{ value: integer(1) }] },
    { namedBindings: { x: { value: integer(1) } } },
    { namedBindings: { x: { value: string('a') }, y: { value: integer(1) } } },
    { positionalBindings: [{ value: integer(1) }, { value: integer(2) }] },
    { namedBindings: { x: {} } },
  )
  const strange = fc.tuple(odd, bindings, fc.boolean()).map(([queryString, bound, allowLiterals]) => ({
    query: undefined,
    gqlQuery: { queryString, allowLiterals: allowLiterals || !queryString.includes('@'), ...bound },
  }))
  return fc.tuple(worlds, mixed([2, written], [1, strange])).map(([world, { query, gqlQuery }]): Case => {
    const request = { gqlQuery }
    if (query === undefined) return { steps: [world, { method: 'RunQuery', request }] }
    const plain = runQuery(query)
    return { steps: [world, plain, { method: 'RunQuery', request, base: 1 }] }
  })
}
