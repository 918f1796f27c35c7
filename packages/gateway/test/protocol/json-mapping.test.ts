/** The rules of the JSON mapping, one by one: from JSON to the engine and back. */
import { openEngine } from '@sixtables/engine'
import { beforeEach, describe, expect, test } from 'vitest'
import { type TestGateway, testGateway } from '../support/gateway.ts'

let gateway: TestGateway

beforeEach(async () => {
  const engine = await openEngine()
  gateway = await testGateway(engine)
  return () => engine.close()
})

async function call(method: string, body: string | object): Promise<{ status: number; text: string; json: unknown }> {
  const response = await fetch(`${gateway.url}/v1/projects/p:${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, text, json: JSON.parse(text) }
}

const key = { path: [{ kind: 'K', name: 'a' }] }

/** Writes one property, given as the text of its JSON value, and answers the text that reading it gives. */
async function roundTrip(value: string): Promise<string> {
  const properties = `{"v":${value}}`
  const entity = `{"key":${JSON.stringify(key)},"properties":${properties}}`
  const written = await call('commit', `{"mode":"NON_TRANSACTIONAL","mutations":[{"upsert":${entity}}]}`)
  if (written.status !== 200) return `${written.status} ${written.text}`
  const { text } = await call('lookup', { keys: [key] })
  const [, found = ''] = /"properties": \{\s*"v": (\{[\s\S]*?\n {10}\}|\{\})\s*\}/.exec(text) ?? []
  return found.replace(/\s+/g, '')
}

describe('values', () => {
  test.each([
    ['{"nullValue":null}', '{"nullValue":null}'],
    ['{"nullValue":"NULL_VALUE"}', '{"nullValue":null}'],
    ['{"booleanValue":false}', '{"booleanValue":false}'],
    ['{"integerValue":"-9223372036854775808"}', '{"integerValue":"-9223372036854775808"}'],
    ['{"integerValue":9007199254740993}', '{"integerValue":"9007199254740993"}'],
    ['{"integerValue":0}', '{"integerValue":"0"}'],
    ['{"doubleValue":1}', '{"doubleValue":1.0}'],
    ['{"doubleValue":-0.0}', '{"doubleValue":-0.0}'],
    ['{"doubleValue":"NaN"}', '{"doubleValue":"NaN"}'],
    ['{"doubleValue":"-Infinity"}', '{"doubleValue":"-Infinity"}'],
    ['{"doubleValue":12345678901234567890}', '{"doubleValue":12345678901234567000.0}'],
    ['{"timestampValue":"2020-01-01T00:00:00Z"}', '{"timestampValue":"2020-01-01T00:00:00Z"}'],
    ['{"timestampValue":"2020-01-01T02:00:00.5+02:00"}', '{"timestampValue":"2020-01-01T00:00:00.500Z"}'],
    ['{"timestampValue":"2020-01-01T00:00:00.123456789Z"}', '{"timestampValue":"2020-01-01T00:00:00.123456Z"}'],
    ['{"timestampValue":"1960-01-01T00:00:00.000000999Z"}', '{"timestampValue":"1960-01-01T00:00:00Z"}'],
    ['{"stringValue":""}', '{"stringValue":""}'],
    ['{"stringValue":"\\u00e4\\ud83d\\ude00"}', '{"stringValue":"ä😀"}'],
    ['{"blobValue":"+/+/"}', '{"blobValue":"+/+/"}'],
    ['{"blobValue":"-_-_"}', '{"blobValue":"+/+/"}'],
    ['{"blobValue":"AQ"}', '{"blobValue":"AQ=="}'],
    ['{"geoPointValue":{"latitude":1.5,"longitude":-2}}', '{"geoPointValue":{"latitude":1.5,"longitude":-2.0}}'],
    ['{"arrayValue":{}}', '{"arrayValue":{}}'],
    [
      '{"arrayValue":{"values":[{"integerValue":"1"},{"stringValue":"x"}]}}',
      '{"arrayValue":{"values":[{"integerValue":"1"},{"stringValue":"x"}]}}',
    ],
    [
      '{"entityValue":{"properties":{"w":{"booleanValue":true}}}}',
      '{"entityValue":{"properties":{"w":{"booleanValue":true}}}}',
    ],
    ['{"string_value":"x","exclude_from_indexes":true}', '{"excludeFromIndexes":true,"stringValue":"x"}'],
  ])('%s comes back as %s', async (given, expected) => {
    const found = await roundTrip(given)
    expect(JSON.parse(found)).toEqual(JSON.parse(expected))
    // The texts may differ in the order of members alone.
    expect([...found].sort()).toEqual([...expected].sort())
  })

  test.each([
    ['{"blobValue":"+/-_"}', 'both base64 alphabets'],
    ['{"integerValue":1.5}', 'CommitRequest'],
    ['{"doubleValue":1e400}', 'out of the range of doubles'],
    ['{"doubleValue":-1e400}', 'out of the range of doubles'],
    ['{"doubleValue":"1e400"}', 'CommitRequest'],
    ['{"geoPointValue":{"latitude":1e400,"longitude":0}}', 'out of the range of doubles'],
    ['{"integerValue":"1x"}', 'CommitRequest'],
    ['{"integerValue":9223372036854775808}', 'CommitRequest'],
    ['{"booleanValue":"true"}', 'CommitRequest'],
    ['{"integerValue":"1","stringValue":"x"}', 'CommitRequest'],
    ['{"timestampValue":"yesterday"}', 'CommitRequest'],
    ['{"timestampValue":"10000-01-01T00:00:00Z"}', 'CommitRequest'],
    ['{"unheardOf":1}', 'CommitRequest'],
  ])('%s is refused', async (given, why) => {
    const answer = await roundTrip(given)
    expect(answer).toMatch(/^400 /)
    expect(answer).toContain(why)
  })
})

describe('requests', () => {
  test('may name fields in snake case', async () => {
    const body = {
      read_options: { read_consistency: 'STRONG' },
      keys: [{ partition_id: { namespace_id: 'n' }, ...key }],
    }
    const { status, text } = await call('lookup', body)
    expect(status).toBe(200)
    expect(text).toContain('"namespaceId": "n"')
  })

  test('may give enums by number, and not by an unknown name', async () => {
    expect((await call('lookup', { readOptions: { readConsistency: 2 }, keys: [key] })).status).toBe(200)
    expect((await call('lookup', { readOptions: { readConsistency: 'SOMETIMES' }, keys: [key] })).status).toBe(400)
  })

  test('give the limit as a bare number', async () => {
    expect((await call('runQuery', { query: { kind: [{ name: 'K' }], limit: 5 } })).status).toBe(200)
    expect((await call('runQuery', { query: { kind: [{ name: 'K' }], limit: { value: 5 } } })).status).toBe(400)
  })

  test.each(['[]', '"x"', '1', 'null', '{"keys":5}', '{"keys":[null]}', '{"nothing":{}}', '{', '\u0000'])(
    'that are %s are refused as INVALID_ARGUMENT',
    async (body) => {
      const { status, json } = await call('lookup', body)
      expect(status).toBe(400)
      expect(json).toMatchObject({ error: { code: 400, status: 'INVALID_ARGUMENT' } })
    },
  )

  test.each([
    ['values', '{"entityValue":{"properties":{"p":', '{"integerValue":"1"}', '}}}'],
    ['lists', '{"arrayValue":{"values":[', '', ']}}'],
  ])('that nest %s 5,000 deep are refused, and nothing is logged as a fault', async (_what, open, inner, close) => {
    const value = `${open.repeat(5000)}${inner}${close.repeat(5000)}`
    const entity = `{"key":${JSON.stringify(key)},"properties":{"v":${value}}}`
    const answer = await call('commit', `{"mode":"NON_TRANSACTIONAL","mutations":[{"upsert":${entity}}]}`)
    expect(answer).toMatchObject({ status: 400, json: { error: { status: 'INVALID_ARGUMENT' } } })
    expect(answer.text).toContain('nested deeper than')
  })

  test('that nest filters 5,000 deep are refused', async () => {
    const open = '{"compositeFilter":{"op":"AND","filters":['.repeat(5000)
    const one = '{"propertyFilter":{"property":{"name":"a"},"op":"EQUAL","value":{"integerValue":"1"}}}'
    const filter = `${open}${one}${']}}'.repeat(5000)}`
    const answer = await call('runQuery', `{"query":{"kind":[{"name":"K"}],"filter":${filter}}}`)
    expect(answer).toMatchObject({ status: 400, json: { error: { status: 'INVALID_ARGUMENT' } } })
  })

  test.each([
    ['a string', '{"v":{"stringValue":"\xff"}}'],
    ['an excluded string', '{"v":{"stringValue":"a\xc3","excludeFromIndexes":true}}'],
    ['a property name', '{"\xed\xa0\x80":{"integerValue":"1"}}'],
  ])('with %s that is not UTF-8 are refused, and nothing is stored', async (_what, properties) => {
    const entity = `{"key":${JSON.stringify(key)},"properties":${properties}}`
    const body = Buffer.from(`{"mode":"NON_TRANSACTIONAL","mutations":[{"upsert":${entity}}]}`, 'latin1')
    const response = await fetch(`${gateway.url}/v1/projects/p:commit`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('not valid UTF-8')
    expect((await call('lookup', { keys: [key] })).json).toHaveProperty('missing')
  })

  test('may begin with a byte order mark', async () => {
    expect((await call('lookup', '\ufeff{}')).status).toBe(200)
  })
})
