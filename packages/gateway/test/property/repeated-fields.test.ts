/**
 * Lists that are too long cost no more than counting them (request-parts/R1): each repeated field of each request
 * message, found by walking the descriptors, is sent with {@link many} elements. What has a limit is refused within
 * {@link refusalCpuMs} of CPU; what has none costs linear time.
 *
 * `npm run test:deep` sends more; bounds grow with the number.
 */

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

const many = isDeep ? 100_000 : 6_000

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

/** The most CPU time that a refusal may take. */
const refusalCpuMs = 20 + many / 1000
/** Any work that grows with the square of the number takes longer. */
const linearCpuMs = many / 20
/** Where other work of the process, such as a collection of garbage, falls into a measurement, another one follows. */
const tries = 5

let engine: Engine
let handlers: Handlers

beforeAll(async () => {
  engine = await openEngine()
  handlers = handlersOf(engine)
})

afterAll(() => engine.close())

/** The request as its handler is given it. In JSON, to read it belongs to what is measured. */
function requestOf(method: MethodName, input: DescMessage, json: JsonObject, form: string): () => Buffer {
  if (form === 'JSON') {
    const body = Buffer.from(JSON.stringify(json))
    return () => requestFromJson(method, body)
  }
  const bytes = Buffer.from(toBinary(input, fromJson(input, json, { registry })))
  return () => bytes
}

/** What a request costs at best, and how it ended. */
async function answerTo(method: MethodName, read: () => Buffer, enoughMs: number) {
  const { clock } = engine.context()
  let leastMs = Number.POSITIVE_INFINITY
  let code = ''
  for (let i = 0; i < tries && leastMs > enoughMs; i++) {
    const start = process.cpuUsage()
    try {
      await handlers[method](read(), new Call({ clock, pathProjectId: 'p' }))
      code = 'OK'
    } catch (error) {
      if (!(error instanceof DatastoreError)) throw error
      ;({ code } = error)
    }
    const { user, system } = process.cpuUsage(start)
    leastMs = Math.min(leastMs, (user + system) / 1000)
  }
  return { code, leastMs }
}

describe.each(['a message', 'JSON'])('in %s', (form) => {
  test.each(cases)('$words, many times', async ({ method, input, path }) => {
    const read = requestOf(method, input, withMany(input, path, many), form)
    if (unlimited.test(parsed(path))) {
      expect((await answerTo(method, read, linearCpuMs)).leastMs).toBeLessThan(linearCpuMs)
      return
    }
    const { code, leastMs } = await answerTo(method, read, refusalCpuMs)
    expect(code).toBe('INVALID_ARGUMENT')
    expect(leastMs).toBeLessThan(refusalCpuMs)
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
    const { code, leastMs } = await answerTo(method, () => bytes, refusalCpuMs)
    expect(code).toBe('INVALID_ARGUMENT')
    expect(leastMs).toBeLessThan(refusalCpuMs)
  })
})
