/**
 * Lists that are too long cost no more than counting them (request/R1): each repeated field of each request
 * message, found by walking the descriptors, is sent with {@link many} elements. Counted are calls of functions for each element: few where
 * the list has a limit and is refused, and no more with more elements where it has none. `npm run test:deep` sends more.
 */
import { Session } from 'node:inspector'
import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  toBinary,
} from '@bufbuild/protobuf'
import { DatastoreError, type Engine, openEngine } from '@sixtables/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isDeep } from '../../../../scripts/deep.ts'
import { Call, type Handlers } from '../../src/call.ts'
import { handlersOf } from '../../src/handlers/handlers.ts'
import type { MethodName } from '../../src/methods.ts'
import { registry } from '../../src/protocols/descriptors.ts'
import { requestFromJson } from '../../src/protocols/json-codec.ts'
import { request } from '../support/messages.ts'

const many = isDeep ? 100_000 : 2_100
/** Of masks, which may be longer. */
const manyPaths = Math.max(many, 5_100)

/** The smallest valid message of each type, the i-th of its kind. Types that are not here are valid when they are empty. */
const samples: Readonly<Record<string, (i: number) => JsonObject>> = {
  Key: (i) => ({ path: [{ kind: 'K', name: `n${i}` }] }),
  PathElement: (i) => ({ kind: 'K', name: `n${i}` }),
  Value: (i) => ({ integerValue: String(i) }),
  Entity: (i) => ({ key: { path: [{ kind: 'K', name: `n${i}` }] } }),
  Query: () => ({ kind: [{ name: 'K' }] }),
  KindExpression: (i) => ({ name: `K${i}` }),
  Projection: (i) => ({ property: { name: `p${i}` } }),
  PropertyReference: (i) => ({ name: `p${i}` }),
  PropertyOrder: (i) => ({ property: { name: `p${i}` } }),
  Filter: (i) => ({ propertyFilter: { property: { name: `p${i}` }, op: 'EQUAL', value: { integerValue: '1' } } }),
  PropertyFilter: (i) => ({ property: { name: `p${i}` }, op: 'IN', value: { integerValue: '1' } }),
  CompositeFilter: () => ({ op: 'AND' }),
  FindNearest: () => ({
    vectorProperty: { name: 'v' },
    distanceMeasure: 'EUCLIDEAN',
    limit: 10,
    queryVector: { arrayValue: { values: [{ doubleValue: 1 }] } },
  }),
  GqlQuery: () => ({ queryString: 'SELECT * FROM K', allowLiterals: true }),
  GqlQueryParameter: (i) => ({ value: { integerValue: String(i) } }),
  AggregationQuery: () => ({ nestedQuery: { kind: [{ name: 'K' }] }, aggregations: [{ count: {} }] }),
  Aggregation: (i) => ({ count: {}, alias: `a${i}` }),
  Mutation: (i) => ({ upsert: { key: { path: [{ kind: 'K', name: `n${i}` }] } } }),
  PropertyTransform: (i) => ({ property: `p${i}`, increment: { integerValue: '1' } }),
  RunQueryRequest: () => ({ query: { kind: [{ name: 'K' }] } }),
  RunAggregationQueryRequest: () => ({
    aggregationQuery: { nestedQuery: { kind: [{ name: 'K' }] }, aggregations: [{ count: {} }] },
  }),
  CommitRequest: () => ({ mode: 'NON_TRANSACTIONAL' }),
}

function sampleOf(message: DescMessage, i: number): JsonObject {
  return samples[message.name]?.(i) ?? {}
}

/** What stands in one place of a repeated field. */
function elementOf(field: DescField, i: number): JsonValue {
  return field.message === undefined ? `t${i}` : sampleOf(field.message, i)
}

type Path = readonly DescField[]

/** The way to each repeated field that a message reaches, through each type once. */
function repeatedFields(message: DescMessage, way: Path = [], types: readonly string[] = []): readonly Path[] {
  if (message.typeName.startsWith('google.protobuf.') || types.includes(message.typeName)) return []
  const inside = [...types, message.typeName]
  return message.fields.flatMap((field) => {
    const path = [...way, field]
    const below = field.message === undefined ? [] : repeatedFields(field.message, path, inside)
    return field.fieldKind === 'list' || field.fieldKind === 'map' ? [path, ...below] : below
  })
}

/** A message with `count` elements in the field at the end of the path. */
function withMany(message: DescMessage, [field, ...rest]: Path, count: number): JsonObject {
  if (field === undefined) return {}
  const sample = sampleOf(message, 0)
  const others = Object.entries(sample).filter(
    ([name]) => field.oneof === undefined || !field.oneof.fields.some(({ jsonName }) => jsonName === name),
  )
  const inner = field.message === undefined ? 0 : rest.length === 0 ? 0 : withMany(field.message, rest, count)
  return { ...Object.fromEntries(others), [field.jsonName]: memberOf(field, inner, rest.length === 0 ? count : 1) }
}

function memberOf(field: DescField, inner: JsonValue, count: number): JsonValue {
  if (inner !== 0) return field.fieldKind === 'list' ? [inner] : field.fieldKind === 'map' ? { m: inner } : inner
  const elements = Array.from({ length: count }, (_, i) => elementOf(field, i))
  return field.fieldKind === 'map' ? Object.fromEntries(elements.map((one, i) => [`m${i}`, one])) : elements
}

const methods = registry.getService('google.datastore.v1.Datastore')?.methods ?? []

const cases = methods.flatMap(({ name, input }) =>
  repeatedFields(input).map((path) => ({
    method: name as MethodName,
    input,
    path,
    words: `${name} ${path.map((f) => f.name).join('.')}`,
  })),
)

const parsed = (path: Path): string => path.map(({ name }) => name).join('.')

/** Lists of which no limit is documented, or that a limit on bytes or on index entries ends: they are read to their end. */
const unlimited =
  /(^|\.)(request_tags|properties|mutations)$|(^|\.)named_bindings\.|^keys$|^mutations\..*(values|value\.path)$/

/** Calls of functions for each element of a request that is refused: those of a key or an entity are read for that. */
const refusalCalls = 60
/** For each element that is read: a mutation, the dearest kind, takes some 500. With the square of the number it would take 1,500. */
const linearCalls = 1000

let engine: Engine
let handlers: Handlers

/** Counts calls of functions. */
const profiler = new Session()

beforeAll(async () => {
  engine = await openEngine()
  handlers = handlersOf(engine)
  profiler.connect()
  profiler.post('Profiler.enable')
  profiler.post('Profiler.startPreciseCoverage', { callCount: true })
})

afterAll(async () => {
  profiler.disconnect()
  await engine.close()
})

/** The request as its handler is given it. In JSON, to read it belongs to what is measured. */
function requestOf(method: MethodName, input: DescMessage, json: JsonObject, form: string): () => Buffer {
  if (form === 'JSON') {
    const body = Buffer.from(JSON.stringify(json))
    return () => requestFromJson(method, body)
  }
  const bytes = Buffer.from(toBinary(input, fromJson(input, json, { registry })))
  return () => bytes
}

/** Calls of our functions, and of those that read messages, since the last look; to look takes as long as many calls. */
function callsSince(): number {
  let counted = 0
  profiler.post('Profiler.takePreciseCoverage', (_, { result }) => {
    for (const { url, functions } of result)
      if (/\/packages\/(?:engine|gateway)\/(?:src|dist)\/|\/protobufjs\//.test(url))
        for (const { ranges } of functions) counted += ranges[0]?.count ?? 0
  })
  return counted
}

/** How a request ended, and the calls of functions for each of its elements. */
async function answerTo(
  method: MethodName,
  read: () => Buffer,
  count = many,
): Promise<{ code: string; calls: number }> {
  const { clock } = engine.context()
  const call = new Call({ clock, pathProjectId: 'p' })
  const code = await (async () => handlers[method](read(), call))().then(
    () => 'OK',
    (error: unknown) => {
      if (error instanceof DatastoreError) return error.code
      throw error
    },
  )
  const calls = callsSince() / count
  expect(calls, 'calls are counted').toBeGreaterThan(0)
  return { code, calls }
}

describe.each(['a message', 'JSON'])('in %s', (form) => {
  test.each(cases)('$words, many times', async ({ method, input, path }) => {
    const count = parsed(path).endsWith('mask.paths') ? manyPaths : many
    const read = requestOf(method, input, withMany(input, path, count), form)
    const { code, calls } = await answerTo(method, read, count)
    if (unlimited.test(parsed(path))) return expect(calls).toBeLessThan(linearCalls)
    expect(code).toBe('INVALID_ARGUMENT')
    expect(calls).toBeLessThan(refusalCalls)
  })
})

const repeated = (part: (i: number) => string, separator: string): string =>
  Array.from({ length: many }, (_, i) => part(i)).join(separator)

describe('in GQL', () => {
  test.each([
    ['projected names', `SELECT ${repeated((i) => `p${i}`, ', ')} FROM K`],
    ['distinct names', `SELECT DISTINCT ON (${repeated((i) => `p${i}`, ', ')}) * FROM K`],
    ['conditions', `SELECT * FROM K WHERE ${repeated((i) => `p${i} = 1`, ' AND ')}`],
    ['alternatives', `SELECT * FROM K WHERE ${repeated((i) => `p = ${i}`, ' OR ')}`],
    [
      'alternatives that are multiplied out',
      `SELECT * FROM K WHERE ${repeated((i) => `(p${i} = 1 OR p${i} = 2)`, ' AND ')}`,
    ],
    ['orders', `SELECT * FROM K ORDER BY ${repeated((i) => `p${i}`, ', ')}`],
    ['values of an array', `SELECT * FROM K WHERE p IN ARRAY(${repeated(String, ', ')})`],
    ['elements of a key', `SELECT * FROM K WHERE __key__ = KEY(${repeated((i) => `K, ${i + 1}`, ', ')})`],
    ['counts', `SELECT ${repeated(() => 'COUNT(*)', ', ')} FROM K`],
    ['letters of a name', `SELECT \`${repeated(() => 'a'.repeat(100), '')}\` FROM K`],
    ['sums', `AGGREGATE ${repeated((i) => `SUM(p${i})`, ', ')} OVER (SELECT * FROM K)`],
  ])('%s, many times', async (what, queryString) => {
    const method = what === 'counts' || what === 'sums' ? 'RunAggregationQuery' : 'RunQuery'
    const bytes = request(method, { gqlQuery: { queryString, allowLiterals: true } })
    const { code, calls } = await answerTo(method, () => bytes)
    expect(code).toBe('INVALID_ARGUMENT')
    expect(calls).toBeLessThan(refusalCalls)
  })
})
