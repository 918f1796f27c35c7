import { encodeValue, type Filter, formatKey, type Query, type Value } from '@sixtables/engine'
import { describe, expect, test } from 'vitest'
import type { GqlQuery, GqlQueryParameter } from '#gen/wire.js'
import { gqlAggregationOf, gqlQueryOf } from './gql.ts'

const partition = { projectId: 'p', databaseId: 'd', namespaceId: 'n' }
const cursor = Uint8Array.of(1, 2, 3)

const value = (value: Value): GqlQueryParameter => ({ value: encodeValue(value), cursor: null })
const integer = (number: bigint): GqlQueryParameter => value({ type: 'integer', value: number })
const integers = (...numbers: bigint[]): GqlQueryParameter =>
  value({ type: 'array', values: numbers.map((number) => ({ type: 'integer', value: number })) })
const position: GqlQueryParameter = { value: null, cursor }

type Named = Readonly<Record<string, GqlQueryParameter>>

const gql = (queryString: string, named: Named = {}, positional: readonly GqlQueryParameter[] = []): GqlQuery => ({
  queryString,
  allowLiterals: true,
  namedBindings: named,
  positionalBindings: positional,
})

const query = (text: string, named?: Named, positional?: readonly GqlQueryParameter[]): Query =>
  gqlQueryOf(gql(text, named, positional), partition)

function filter(condition: string, named?: Named, positional?: readonly GqlQueryParameter[]): Filter | undefined {
  return query(`SELECT * FROM K WHERE ${condition}`, named, positional).filter
}

const property = (operator: string, operand: unknown) => ({ type: 'property', property: 'a', operator, value: operand })
const one = { type: 'integer', value: 1n }
const two = { type: 'integer', value: 2n }
const both = { type: 'array', values: [one, two] }

test('a query without conditions is the whole kind, in the partition of the request', () => {
  expect(query('SELECT * FROM K')).toMatchObject({
    partition,
    kind: 'K',
    projection: [],
    filter: undefined,
    order: [],
    distinctOn: [],
    offset: 0,
  })
  expect(query('SELECT *').kind).toBeUndefined()
})

test('fields become projection and distinct', () => {
  expect(query('SELECT a, b FROM K')).toMatchObject({ projection: ['a', 'b'], distinctOn: [] })
  expect(query('SELECT __key__ FROM K')).toMatchObject({ projection: ['__key__'] })
  expect(query('SELECT DISTINCT a, b FROM K')).toMatchObject({ projection: ['a', 'b'], distinctOn: ['a', 'b'] })
  expect(query('SELECT DISTINCT ON (a) * FROM K')).toMatchObject({ projection: [], distinctOn: ['a'] })
  expect(query('SELECT DISTINCT ON (a) a, b FROM K')).toMatchObject({ projection: ['a', 'b'], distinctOn: ['a'] })
})

describe('conditions', () => {
  test.each<[string, string]>([
    ['=', 'equal'],
    ['!=', 'notEqual'],
    ['<', 'lessThan'],
    ['<=', 'lessThanOrEqual'],
    ['>', 'greaterThan'],
    ['>=', 'greaterThanOrEqual'],
    ['CONTAINS', 'equal'],
    ['IN', 'equal'],
    ['NOT IN', 'notIn'],
  ])('a %s 1', (sign, operator) => {
    expect(filter(`a ${sign} 1`)).toEqual(property(operator, one))
  })

  test('IN and CONTAINS mean IN when the value is an array, literal or bound', () => {
    for (const condition of ['a IN ARRAY(1, 2)', 'a CONTAINS ARRAY(1, 2)', 'ARRAY(1, 2) IN a']) {
      expect(filter(condition)).toEqual(property('in', both))
    }
    for (const condition of ['a IN @x', 'a CONTAINS @x', '@x IN a']) {
      expect(filter(condition, { x: integers(1n, 2n) })).toEqual(property('in', both))
      expect(filter(condition, { x: integer(1n) })).toEqual(property('equal', one))
    }
    expect(filter('a NOT IN @x', { x: integers(1n, 2n) })).toEqual(property('notIn', both))
    expect(filter('a IN ARRAY(@x, 2)', { x: integer(1n) })).toEqual(property('in', both))
  })

  test('AND and OR nest as they were written', () => {
    const b = { ...property('equal', two), property: 'b' }
    expect(filter('a = 1 OR b = 2 AND a = 1')).toEqual({
      type: 'composite',
      operator: 'or',
      filters: [property('equal', one), { type: 'composite', operator: 'and', filters: [b, property('equal', one)] }],
    })
  })

  const keyIn = (literal: string) => {
    const found = filter(`a = ${literal}`)
    return found?.type === 'property' && found.value.type === 'key' ? found.value.key : undefined
  }

  test('a key literal is in the partition of the query', () => {
    const key = keyIn("KEY(K, 1, L, 'x')")
    expect(key?.partition).toEqual(partition)
    expect(key && formatKey(key)).toBe('K:1/L:"x"')
  })

  test('a key literal that names a part of its partition has no other but project and database', () => {
    expect(keyIn("KEY(NAMESPACE('m'), K, 1)")?.partition).toEqual({ ...partition, namespaceId: 'm' })
    expect(keyIn("KEY(PROJECT('p'), K, 1)")?.partition).toEqual({ ...partition, namespaceId: '' })
    expect(keyIn("KEY(PROJECT('o'), K, 1)")?.partition).toEqual({ projectId: 'o', databaseId: '', namespaceId: '' })
    expect(keyIn("KEY(PROJECT('o'), DATABASE('e'), NAMESPACE('m'), K, 1)")?.partition).toEqual({
      projectId: 'o',
      databaseId: 'e',
      namespaceId: 'm',
    })
  })
})

describe('bindings', () => {
  test('are named or numbered, and may be used again', () => {
    expect(filter('a = @x', { x: integer(1n), left: integer(9n) })).toEqual(property('equal', one))
    expect(filter('a = @1', {}, [integer(1n)])).toEqual(property('equal', one))
    expect(filter('a > @2 AND a < @1', {}, [integer(1n), integer(2n)])).toMatchObject({
      filters: [property('greaterThan', two), property('lessThan', one)],
    })
    expect(query('SELECT * FROM K LIMIT @1 OFFSET @1', {}, [integer(1n)])).toMatchObject({ limit: 1, offset: 1 })
  })

  test.each<[string, Named, readonly GqlQueryParameter[], RegExp]>([
    ['a = @x', {}, [], /@x is not bound; the query is given no bindings/],
    ['a = @X', { x: integer(1n) }, [], /@X is not bound; the query is given @x/],
    ['a = @toString', { x: integer(1n) }, [], /@toString is not bound/],
    ['a = @1', {}, [], /@1 is not bound/],
    ['a = @99999999999999', {}, [integer(1n)], /@99999999999999 is not bound; the query is given @1/],
    ['a = @1', {}, [integer(1n), integer(2n)], /positional binding 2 is not used/],
    ['a = @2', {}, [integer(1n), integer(2n)], /positional binding 1 is not used/],
    ['a = 1', { '': integer(1n) }, [], /empty name/],
    ['a = 1', { '1x': integer(1n) }, [], /"1x" starts with a digit/],
    ['a = 1', { 'x y': integer(1n) }, [], /"x y" may hold letters/],
    ['a = 1', { __x__: integer(1n) }, [], /"__x__" is reserved/],
    ['a = 1', { x: { value: null, cursor: null } }, [], /@x holds neither a value nor a cursor/],
    ['a = 1', {}, [{ value: null, cursor: null }], /@1 holds neither/],
    ['a = @x', { x: position }, [], /@x stands for a value, but a cursor is bound/],
  ])('%s with %o %o is refused', (condition, named, positional, message) => {
    expect(() => filter(condition, named, positional)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringMatching(message) }),
    )
  })
})

describe('LIMIT and OFFSET', () => {
  const given = { c: position, n: integer(5n), empty: { value: null, cursor: new Uint8Array(0) } }

  test.each<[string, Partial<Query>]>([
    ['LIMIT 0', { limit: 0 }],
    ['LIMIT 2147483647', { limit: 2147483647 }],
    ['LIMIT @n', { limit: 5 }],
    ['LIMIT @c', { endCursor: cursor }],
    ['LIMIT FIRST(@c, 2)', { endCursor: cursor, limit: 2 }],
    ['LIMIT FIRST(@n, @c)', { endCursor: cursor, limit: 5 }],
    ['OFFSET 3', { offset: 3 }],
    ['OFFSET @n', { offset: 5 }],
    ['OFFSET @c', { startCursor: cursor, offset: 0 }],
    ['OFFSET @c + 17', { startCursor: cursor, offset: 17 }],
    ['OFFSET @c + @n', { startCursor: cursor, offset: 5 }],
    ['LIMIT FIRST(@c, 2) OFFSET @c + 1', { startCursor: cursor, endCursor: cursor, limit: 2, offset: 1 }],
    ['LIMIT @empty', { endCursor: undefined, limit: undefined }],
  ])('%s', (clauses, parts) => {
    const { startCursor, endCursor, limit, offset } = query(`SELECT * FROM K ${clauses}`, given)
    const nothing = { startCursor: undefined, endCursor: undefined, limit: undefined, offset: 0 }
    expect({ startCursor, endCursor, limit, offset }).toEqual({ ...nothing, ...parts })
  })

  const double = value({ type: 'double', value: 1 })

  test.each<[string, RegExp]>([
    ['LIMIT -1', /the limit is -1; it must not be negative/],
    ['LIMIT 2147483648', /the limit is 2147483648; at most 2147483647/],
    ['OFFSET -1', /the offset is -1/],
    ['OFFSET 2147483648', /the offset is 2147483648/],
    ['LIMIT @d', /@d stands for the limit, an integer, but a double is bound/],
    ['OFFSET @d', /@d stands for the offset, an integer, but a double/],
    ['LIMIT FIRST(1, 2)', /two of a kind/],
    ['LIMIT FIRST(@c, @c)', /two of a kind/],
    ['OFFSET 1 + 2', /takes a cursor before the \+/],
    ['OFFSET @n + @c', /takes a cursor before the \+/],
    ['OFFSET @c + @c', /an integer, but a cursor is bound/],
    ['OFFSET @c + -1', /the offset is -1/],
  ])('%s is refused', (clauses, message) => {
    expect(() => query(`SELECT * FROM K ${clauses}`, { ...given, d: double })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringMatching(message) }),
    )
  })
})

describe('aggregations', () => {
  const aggregation = (text: string, named?: Named) => gqlAggregationOf(gql(text, named), partition)

  test('come with the query that they are over', () => {
    const { aggregations, query: over } = aggregation(
      'AGGREGATE COUNT(*) AS n, COUNT_UP_TO(5), SUM(a), AVG(b.c) OVER (SELECT * FROM K WHERE a = @x LIMIT 3)',
      { x: integer(1n) },
    )
    expect(aggregations).toEqual([
      { operator: 'count', upTo: undefined, alias: 'n' },
      { operator: 'count', upTo: 5n, alias: undefined },
      { operator: 'sum', property: 'a', alias: undefined },
      { operator: 'avg', property: 'b.c', alias: undefined },
    ])
    expect(over).toMatchObject({ kind: 'K', filter: property('equal', one), limit: 3 })
  })

  test('and plain queries each have a method of their own', () => {
    expect(() => query('SELECT COUNT(*) FROM K')).toThrow(/send it with RunAggregationQuery/)
    expect(() => query('AGGREGATE COUNT(*) OVER (SELECT * FROM K)')).toThrow(/send it with RunAggregationQuery/)
    expect(() => aggregation('SELECT * FROM K')).toThrow(/send it with RunQuery/)
  })
})
