/**
 * Masks, transforms and expected versions over the wire, by a client that shares no code with us. The same suite can be put to
 * Google's Firestore emulator in Datastore mode, whose answers these are; where it differs a test says so:
 *
 *   SIXTABLES_ORACLE=firestore@127.0.0.1:9700 npx vitest run packages/gateway/test/contract/commit-features.test.ts
 */

import { type Engine, openEngine } from '@sixtables/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../src/emulator/server.ts'
import type { MethodName } from '../../src/methods.ts'
import type { Plain } from '../support/published-protos.ts'
import { openWire, readAnswer, type Wire, type WireAnswer } from '../support/wires.ts'

const [, host = '', port = ''] = /^firestore@(.+):(\d+)$/.exec(process.env['SIXTABLES_ORACLE'] ?? '') ?? []
const isOracle = host !== ''
/** Why a test is not put to the emulator. */
const differs = 'the emulator differs here, as docs/reference/differences.md says'

/** An emulator may still have what an earlier run left. */
const project = `features-${process.pid}`

let engine: Engine | undefined
let gateway: Gateway | undefined
let wire: Wire
let json: Wire

beforeAll(async () => {
  if (!isOracle) {
    engine = await openEngine()
    gateway = await startGateway({ engine, host: '127.0.0.1', port: 0 })
  }
  const at = { host: isOracle ? host : '127.0.0.1', port: isOracle ? Number(port) : (gateway?.port ?? 0) }
  wire = await openWire('gRPC', at)
  json = await openWire('HTTP JSON', at)
})

afterAll(async () => {
  wire.close()
  json.close()
  await gateway?.close()
  await engine?.close()
})

// What the tests read of answers.
interface MutationResult {
  readonly version: string
  readonly createTime?: unknown
  readonly updateTime?: unknown
  readonly conflictDetected?: boolean
  readonly transformResults?: readonly Plain[]
}
interface Result {
  readonly entity: { readonly properties?: Plain }
  readonly version: string
  readonly createTime: unknown
  readonly updateTime: unknown
}

const send = (method: MethodName, request: Plain): Promise<WireAnswer> => wire.send(project, method, request)

async function ok<T>(method: MethodName, request: Plain): Promise<T> {
  const answer = await send(method, request)
  expect(answer).toMatchObject({ code: 'OK' })
  return readAnswer(wire, method, answer) as T
}

const codeOf = async (method: MethodName, request: Plain): Promise<string> => (await send(method, request)).code

async function mutate(...mutations: Plain[]): Promise<readonly MutationResult[]> {
  const { mutationResults } = await ok<{ mutationResults: MutationResult[] }>('Commit', commit(...mutations))
  return mutationResults
}

let names = 0

/** A key of its own for each use. */
function newKey(): Plain {
  names++
  return named(`n${names}`)
}

/** A key under which these properties are stored. */
async function stored(properties: Plain): Promise<Plain> {
  const key = newKey()
  await mutate({ upsert: entity(key, properties) })
  return key
}

async function resultOf(key: Plain, more: Plain = {}): Promise<Result> {
  const { found } = await ok<{ found: Result[] }>('Lookup', { keys: [key], ...more })
  const [result] = found
  if (result === undefined) throw new Error('the entity is not there')
  return result
}

const propertiesOf = async (key: Plain, more: Plain = {}): Promise<Plain> =>
  (await resultOf(key, more)).entity.properties ?? {}

const named = (name: string): Plain => ({ path: [{ kind: 'K', name }] })
const entity = (key: Plain, properties: Plain = { v: integer(1) }): Plain => ({ key, properties })
const commit = (...mutations: Plain[]): Plain => ({ mode: 'NON_TRANSACTIONAL', mutations })
const atomic = (...mutations: Plain[]): Plain => ({ mode: 'TRANSACTIONAL', singleUseTransaction: {}, mutations })
const integer = (value: number | string): Plain => ({ integerValue: String(value) })
const array = (...values: Plain[]): Plain => ({ arrayValue: { values } })
const text = (value: string): Plain => ({ stringValue: value })
const double = (value: number): Plain => ({ doubleValue: value })
const inner = (properties: Plain): Plain => ({ entityValue: { properties } })
const mask = (...paths: string[]): Plain => ({ propertyMask: { paths } })

describe('a mask on a write', () => {
  test('keeps the rest, within entities too, and deletes what the write lacks', async () => {
    const key = await stored({ a: integer(1), b: integer(2), c: text('x'), e: inner({ x: integer(1), y: integer(2) }) })
    const written = entity(key, { a: integer(10), b: integer(20), e: inner({ x: integer(9), y: integer(9) }) })
    await mutate({ update: written, ...mask('a', 'c', 'e.x') })
    expect(await propertiesOf(key)).toEqual({
      a: integer(10),
      b: integer(2),
      e: inner({ x: integer(9), y: integer(2) }),
    })
  })

  test('of a new entity leaves out the rest', async () => {
    const key = newKey()
    await mutate({ upsert: entity(key, { a: integer(1), b: integer(2) }), ...mask('a') })
    expect(await propertiesOf(key)).toEqual({ a: integer(1) })
  })

  test('that covers no change leaves version and update time', async () => {
    const key = await stored({ a: integer(1), b: integer(2) })
    const before = await resultOf(key)
    const [result] = await mutate({ upsert: entity(key, { a: integer(1), b: integer(77) }), ...mask('a') })
    expect(result).toMatchObject({ version: before.version, updateTime: before.updateTime })
  })

  test('makes the property queryable by its new value and not by its old one', async () => {
    const key = await stored({ hue: text(`old-${project}`), other: text(`kept-${project}`) })
    await mutate({ upsert: entity(key, { hue: text(`new-${project}`) }), ...mask('hue') })
    const foundBy = async (property: string, value: string): Promise<number> => {
      const filter = { propertyFilter: { property: { name: property }, op: 'EQUAL', value: text(value) } }
      const query = { kind: [{ name: 'K' }], filter }
      const { batch } = await ok<{ batch: { entityResults?: unknown[] } }>('RunQuery', { query })
      return batch.entityResults?.length ?? 0
    }
    expect(await foundBy('hue', `old-${project}`)).toBe(0)
    expect(await foundBy('hue', `new-${project}`)).toBe(1)
    expect(await foundBy('other', `kept-${project}`)).toBe(1)
  })
})

describe('a mask on a read', () => {
  const properties = {
    a: integer(1),
    e: inner({ x: integer(1), y: inner({ z: integer(2), w: integer(3) }) }),
    list: array(integer(1), inner({ x: integer(2) })),
  }

  test.each<[string[], Plain]>([
    [[], {}],
    [['__key__'], {}],
    [['a', '__key__'], { a: integer(1) }],
    [['e.x'], { e: inner({ x: integer(1) }) }],
    [['e.y.w', 'list'], { e: inner({ y: inner({ w: integer(3) }) }), list: properties.list }],
    [['list.x', 'a.x', 'none', 'e.none'], {}],
  ])('of %j, in a lookup and in a query', async (paths, expected) => {
    const key = await stored(properties)
    const whole = await resultOf(key)
    const masked = await resultOf(key, mask(...paths))
    expect(masked.entity.properties ?? {}).toEqual(expected)
    expect(masked).toMatchObject({ version: whole.version, updateTime: whole.updateTime })
    const byKey = { propertyFilter: { property: { name: '__key__' }, op: 'EQUAL', value: { keyValue: key } } }
    const request = { query: { kind: [{ name: 'K' }], filter: byKey }, ...mask(...paths) }
    const { batch } = await ok<{ batch: { entityResultType: string; entityResults: Result[] } }>('RunQuery', request)
    expect(batch.entityResultType).toBe('FULL')
    expect(batch.entityResults.map((result) => result.entity.properties ?? {})).toEqual([expected])
  })

  test('is refused with a projection, and without effect on keys alone', async () => {
    const projecting = (name: string): Plain => ({
      query: { kind: [{ name: 'K' }], projection: [{ property: { name } }] },
      ...mask('a'),
    })
    expect(await codeOf('RunQuery', projecting('a'))).toBe('INVALID_ARGUMENT')
    expect(await codeOf('RunQuery', projecting('__key__'))).toBe('OK')
  })

  test.each(['', 'a..b', 'a.', '__x__', 'e.__x__', '__key__.x'])('is refused with the path %j', async (path) => {
    expect(await codeOf('Lookup', { keys: [named('n')], ...mask(path) })).toBe('INVALID_ARGUMENT')
    expect(await codeOf('RunQuery', { query: { kind: [{ name: 'K' }] }, ...mask(path) })).toBe('INVALID_ARGUMENT')
    expect(await codeOf('Commit', commit({ upsert: entity(named('n')), ...mask(path) }))).toBe('INVALID_ARGUMENT')
  })

  test('of a missing entity leaves it missing', async () => {
    const answer = await ok<{ missing: unknown[] }>('Lookup', { keys: [named('nobody')], ...mask('a') })
    expect(answer.missing).toHaveLength(1)
  })
})

describe('transforms', () => {
  const increment = (property: string, by: Plain): Plain => ({ property, increment: by })

  /** What transforms of stored properties answer and leave. */
  async function transform(
    before: Plain,
    ...propertyTransforms: Plain[]
  ): Promise<[readonly Plain[] | undefined, Plain]> {
    const key = await stored(before)
    const [result] = await mutate({ upsert: entity(key, {}), ...mask(), propertyTransforms })
    return [result?.transformResults, await propertiesOf(key)]
  }

  test('answer new values in order, and null for arrays', async () => {
    const [results, after] = await transform(
      { n: integer(1), d: double(1.5), l: array(integer(3)) },
      increment('n', integer(5)),
      increment('n', double(0.5)),
      { property: 'd', maximum: integer(2) },
      { property: 'd', minimum: double(1.75) },
      { property: 'l', appendMissingElements: { values: [double(3), integer(4)] } },
      { property: 'none', removeAllFromArray: { values: [integer(4)] } },
      increment('e.x', integer(7)),
    )
    const nothing = { nullValue: 'NULL_VALUE' }
    expect(results).toEqual([integer(6), double(6.5), integer(2), double(1.75), nothing, nothing, integer(7)])
    expect(after).toEqual({
      n: double(6.5),
      d: double(1.75),
      l: array(integer(3), integer(4)),
      none: { arrayValue: {} },
      e: inner({ x: integer(7) }),
    })
  })

  test('stop at the ends of int64', async () => {
    const [largest, smallest] = ['9223372036854775807', '-9223372036854775808']
    const [results] = await transform(
      { up: integer(largest), down: integer(smallest) },
      increment('up', integer(5)),
      increment('down', integer(-5)),
    )
    expect(results).toEqual([integer(largest), integer(smallest)])
  })

  test('set one request time on all entities of a commit, in whole milliseconds', async () => {
    const keys = [newKey(), newKey()]
    const propertyTransforms = [{ property: 'at', setToServerValue: 'REQUEST_TIME' }]
    const request = atomic(...keys.map((key) => ({ upsert: entity(key, {}), propertyTransforms })))
    const before = Math.floor(Date.now() / 1000)
    const { mutationResults } = await ok<{ mutationResults: MutationResult[] }>('Commit', request)
    const [first, second] = mutationResults.map(({ transformResults }) => transformResults)
    expect(first).toEqual(second)
    const { timestampValue } = (first?.[0] ?? {}) as { timestampValue?: { seconds: string; nanos?: number } }
    const { nanos = 0, seconds = '0' } = timestampValue ?? {}
    expect(nanos % 1_000_000).toBe(0)
    // An emulator may be a little ahead, or behind.
    expect(Number(seconds)).toBeGreaterThan(before - 60)
    expect(Number(seconds)).toBeLessThan(Date.now() / 1000 + 60)
    expect(await propertiesOf(keys[0] ?? {})).toEqual({ at: first?.[0] })
  })

  test('take effect after the write, whatever its mask says', async () => {
    const key = await stored({ n: integer(1), m: integer(5) })
    const propertyTransforms = [increment('n', integer(1))]
    await mutate({ upsert: entity(key, { n: integer(100), m: integer(7) }), ...mask('m'), propertyTransforms })
    expect(await propertiesOf(key)).toEqual({ n: integer(2), m: integer(7) })
    await mutate({ update: entity(key, { n: integer(100) }), propertyTransforms })
    expect(await propertiesOf(key)).toEqual({ n: integer(101) })
  })

  test.each<[string, Plain]>([
    ['an increment by a text', increment('n', text('x'))],
    ['an increment by nothing', increment('n', {})],
    ['a maximum of a boolean', { property: 'n', maximum: { booleanValue: true } }],
    ['an unspecified server value', { property: 'n', setToServerValue: 'SERVER_VALUE_UNSPECIFIED' }],
    ['no operation', { property: 'n' }],
    ['no property', { increment: integer(1) }],
    ['__key__', increment('__key__', integer(1))],
    ['a path with an empty name', increment('a..b', integer(1))],
    ['an element without a type', { property: 'l', appendMissingElements: { values: [{}] } }],
  ])('are refused with %s', async (_, transformed) => {
    const key = newKey()
    const request = commit(
      { upsert: entity(named('first')) },
      { upsert: entity(key), propertyTransforms: [transformed] },
    )
    expect(await codeOf('Commit', request)).toBe('INVALID_ARGUMENT')
  })

  test('are refused on a delete, within each other, and with an update of nothing', async () => {
    const propertyTransforms = [increment('n', integer(1))]
    expect(await codeOf('Commit', commit({ delete: newKey(), propertyTransforms }))).toBe('INVALID_ARGUMENT')
    const nested = [increment('e', integer(1)), increment('e.x', integer(1))]
    const upsert = entity(newKey())
    expect(await codeOf('Commit', commit({ upsert, propertyTransforms: nested }))).toBe('INVALID_ARGUMENT')
    expect(await codeOf('Commit', commit({ update: entity(newKey()), propertyTransforms }))).toBe('NOT_FOUND')
  })

  test('are refused above 500 on an entity, and with what could not be written itself', async ({ skip }) => {
    skip(isOracle, differs)
    const many = Array.from({ length: 501 }, () => increment('n', integer(1)))
    expect(await codeOf('Commit', commit({ upsert: entity(newKey()), propertyTransforms: many }))).toBe(
      'INVALID_ARGUMENT',
    )
    for (const value of [array(integer(1)), text('x'.repeat(1501))]) {
      const propertyTransforms = [{ property: 'l', appendMissingElements: { values: [value] } }]
      expect(await codeOf('Commit', commit({ upsert: entity(newKey()), propertyTransforms }))).toBe('INVALID_ARGUMENT')
    }
  })

  test('look in JSON as in the published mapping', async () => {
    const request = commit({
      upsert: entity(newKey(), {}),
      propertyTransforms: [increment('n', integer(1)), { property: 'l', appendMissingElements: {} }],
    })
    const answer = readAnswer(json, 'Commit', await json.send(project, 'Commit', request))
    expect(answer).toMatchObject({
      mutationResults: [{ transformResults: [{ integerValue: '1' }, { nullValue: null }] }],
    })
  })
})

describe('an expected version', () => {
  const fail = { conflictResolutionStrategy: 'FAIL' }

  test('that is stored lets the write through', async () => {
    const key = await stored({ v: integer(1) })
    const { version } = await resultOf(key)
    await mutate({ upsert: entity(key, { v: integer(2) }), baseVersion: version, ...fail })
    expect(await propertiesOf(key)).toEqual({ v: integer(2) })
    const { updateTime } = await resultOf(key)
    await mutate({ upsert: entity(key, { v: integer(3) }), updateTime, ...fail })
    expect(await propertiesOf(key)).toEqual({ v: integer(3) })
  })

  test('that is another fails the commit when asked to', async () => {
    const key = await stored({ v: integer(1) })
    for (const expected of [{ baseVersion: '5' }, { updateTime: { seconds: '1000' } }]) {
      const request = commit({ upsert: entity(key, { v: integer(2) }), ...expected, ...fail })
      expect(await codeOf('Commit', request)).toBe('FAILED_PRECONDITION')
    }
    expect(await propertiesOf(key)).toEqual({ v: integer(1) })
  })

  // The emulator writes in spite of the conflict.
  test('that is another is told, and the stored entity stays', async ({ skip }) => {
    skip(isOracle, differs)
    const key = await stored({ v: integer(1) })
    const before = await resultOf(key)
    for (const strategy of [{}, { conflictResolutionStrategy: 'SERVER_VALUE' }]) {
      const results = await mutate({ upsert: entity(key, { v: integer(2) }), baseVersion: '5', ...strategy })
      expect(results).toEqual([
        {
          version: before.version,
          createTime: before.createTime,
          updateTime: before.updateTime,
          conflictDetected: true,
        },
      ])
    }
    expect(await propertiesOf(key)).toEqual({ v: integer(1) })
  })

  test('that cannot be meant is refused', async () => {
    const key = await stored({ v: integer(1) })
    const { version } = await resultOf(key)
    const newer = String(BigInt(version) + 1n)
    for (const mutation of [
      { upsert: entity(key), baseVersion: newer },
      { upsert: entity(key), baseVersion: '-1' },
      { insert: entity(newKey()), baseVersion: '5' },
      { update: entity(key), baseVersion: '0' },
      { upsert: entity(key), conflictResolutionStrategy: 'SERVER_VALUE' },
    ]) {
      expect(await codeOf('Commit', commit(mutation))).toBe('INVALID_ARGUMENT')
    }
  })

  test('may not differ between mutations of one entity', async () => {
    const key = await stored({ v: integer(1) })
    const { version } = await resultOf(key)
    const upsert = entity(key, { v: integer(2) })
    const code = (...mutations: Plain[]): Promise<string> => codeOf('Commit', atomic(...mutations))
    expect(await code({ upsert }, { upsert, baseVersion: version })).toBe('INVALID_ARGUMENT')
    expect(await code({ upsert, baseVersion: version }, { upsert, baseVersion: '5' })).toBe('INVALID_ARGUMENT')
    expect(await code({ upsert, baseVersion: version, ...fail }, { upsert })).toBe('INVALID_ARGUMENT')
    expect(await code({ upsert, baseVersion: version }, { upsert })).toBe('OK')
  })
})

describe('several mutations of one entity', () => {
  test('answer alike: what the commit leaves of it', async () => {
    const key = await stored({ v: integer(1) })
    const upsert = entity(key, { v: integer(2) })
    const answer = await ok<{ mutationResults: MutationResult[] }>(
      'Commit',
      atomic({ upsert }, { update: entity(key, {}) }),
    )
    const { version, createTime, updateTime } = await resultOf(key)
    const left = { version, createTime, updateTime }
    expect(answer.mutationResults).toEqual([left, left])
  })

  test('of which the last deletes it answer without times', async () => {
    const key = newKey()
    const request = atomic({ insert: entity(key) }, { delete: key })
    const { mutationResults } = await ok<{ mutationResults: MutationResult[] }>('Commit', request)
    expect(mutationResults.map((result) => Object.keys(result))).toEqual([['version'], ['version']])
  })

  test('of which one deletes it leave a new entity', async () => {
    const key = await stored({ v: integer(1) })
    const before = await resultOf(key)
    await ok('Commit', atomic({ delete: key }, { upsert: entity(key, { v: integer(1) }) }))
    const after = await resultOf(key)
    expect(after.createTime).not.toEqual(before.createTime)
    expect(after.createTime).toEqual(after.updateTime)
  })
})

describe('the commit time', () => {
  test('is set for transactions, and for them alone', async ({ skip }) => {
    skip(isOracle, differs)
    const answers = await Promise.all(
      [
        atomic({ upsert: entity(newKey()) }),
        atomic(),
        commit({ upsert: entity(newKey()) }),
        commit({ delete: newKey() }),
        commit(),
      ].map((request) => ok<Plain>('Commit', request)),
    )
    expect(answers.map(({ commitTime }) => (commitTime ?? undefined) !== undefined)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
  })
})
