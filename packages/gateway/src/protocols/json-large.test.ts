/** Large bodies: the same message as of the whole, made in pieces whatever their shape. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf'
import { systemScheduler } from '@sixtables/engine'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { Call } from '../call.ts'
import type { MethodName } from '../methods.ts'
import { registry } from './descriptors.ts'
import * as codec from './json-codec.ts'
import { largeRequestFromJson, longAnswerToJson } from './json-large.ts'

const call = (): Call => new Call({ clock: systemScheduler })

async function outcome(method: MethodName, read: () => unknown): Promise<unknown> {
  try {
    const { input } = codec.methodOf(method)
    return toJson(input, fromBinary(input, (await read()) as Buffer), { registry })
  } catch {
    return 'refused'
  }
}
const wholeOf = (body: Buffer, method: MethodName = 'Commit') =>
  outcome(method, () => codec.requestFromJson(method, body))
const inPieces = (body: Buffer, method: MethodName = 'Commit') =>
  outcome(method, () => largeRequestFromJson(call(), method, body))

const texts = fc.constantFrom('x'.repeat(3000), 'a "quoted" \\ text]}', '\\"', ',', '[{', 'ü', '\u2028', '__proto__')
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    texts.map((stringValue) => ({ stringValue, excludeFromIndexes: true })),
    fc.array(tie('value'), { maxLength: 4, size: 'max' }).map((values) => ({ arrayValue: { values } })),
    fc
      .dictionary(texts, tie('value'), { maxKeys: 3, size: 'max' })
      .map((properties) => ({ entityValue: { properties } })),
  ),
}))
const mutation = fc.record({ name: texts, value }).map(({ name, value }) => ({
  upsert: { key: { path: [{ kind: 'K', name }] }, properties: { [name]: value } },
}))
const request = fc.record({
  before: fc.constantFrom({}, { databaseId: 'd' }, { mode: 'NON_TRANSACTIONAL' }, { transaction: 'YWJj' }),
  mutations: fc.array(mutation, { maxLength: 5, size: 'max' }),
  indent: fc.constantFrom(0, 2),
})

describe('json-large/J1: a body in pieces', () => {
  test('has the message of the whole', async () => {
    const law = fc.asyncProperty(request, async ({ before, mutations, indent }) => {
      const body = Buffer.from(JSON.stringify({ ...before, mutations }, undefined, indent))
      expect(await inPieces(body)).toEqual(await wholeOf(body))
    })
    await fc.assert(law, { numRuns: 20 })
  })

  const long = Array.from(
    { length: 30 },
    (_, i) => `{"delete":{"path":[{"kind":"K","name":"${i}${'x'.repeat(900)}"}]}}`,
  )
  const values = Array.from({ length: 1000 }, (_, i) => `{"integerValue":"${i}"}`).join(',')
  const put = (value: string): string => `{"mutations":[{"upsert":{"properties":{"a":${value}}}}]}`

  test.each([
    ['a comma at the end', `{"mutations":[${long.join(',')},]}`],
    ['a comma at the begin', `{"mutations":[,${long.join(',')}]}`],
    ['two commas', `{"mutations":[${long.slice(0, 20).join(',')},,${long.slice(20).join(',')}]}`],
    ['a missing bracket', `{"mutations":[${long.join(',')}}`],
    ['a wrong bracket', `{"mutations":[${long.join(',')}}]`],
    ['something behind it', `{"mutations":[${long.join(',')}]} x`],
    ['something behind a list', `{"mutations":[${long.join(',')}] x}`],
    ['something before a list', `{"mutations": x [${long.join(',')}]}`],
    ['a list without a name', `{[${long.join(',')}]}`],
    ['two bodies', `{"mutations":[${long.join(',')}]},{"mutations":[${long.join(',')}]}`],
    ['no end of a text', `{"mutations":[${long.join(',')},"]}`],
    ['an unknown member', `{"mutations":[${long.join(',')}],"nothing":1}`],
    ['an unknown large member', `{"nothing":[${long.join(',')}]}`],
    ['an element that is no mutation', `{"mutations":[${long.join(',')},7]}`],
    ['a list as a message', put(`[${values}]`)],
    ['a message as a list', put(`{"arrayValue":{"values":{"integerValue":"1","x":[${values}]}}}`)],
    ['a list in a list', put(`{"arrayValue":{"values":[[${values}]]}}`)],
    ['two kinds of a value', put(`{"stringValue":"a","arrayValue":{"values":[${values}]}}`)],
    ['a list alone', `[${long.join(',')}]`],
    ['a number and a list', `{"mutations":5[${long.join(',')}]}`],
    ['a sign and an object', put(`{"entityValue":{"properties":-{"b":{"arrayValue":{"values":[${values}]}}}}}`)],
    ['a text', `"${'x'.repeat(70_000)}"`],
    ['digits', '1'.repeat(70_000)],
    ['numbers', Array(70_000).fill('1').join(',')],
    ['bytes that are no UTF-8', put(`{"stringValue":"${'x'.repeat(70_000)}\xe9"}`)],
    [
      'a large property with such a name',
      `{"mutations":[{"upsert":{"properties":{"\xe9":{"arrayValue":{"values":[${values}]}}}}}]}`,
    ],
    ...['a\\ud800', `${'a'.repeat(50)}\\udc00`].map((name) => [
      `half of a surrogate pair in ${name}, the name of a large property`,
      `{"mutations":[{"upsert":{"properties":{"${name}":{"arrayValue":{"values":[${values}]}}}}}]}`,
    ]),
    ['much depth', `{"mutations":[${'['.repeat(50_000)}`],
  ])('is refused for %s, as the whole is', async (_, text) => {
    const body = Buffer.from(text, 'latin1')
    expect(await wholeOf(body)).toBe('refused')
    expect(await inPieces(body)).toBe('refused')
  })

  test.each([
    ['blobs', `"blobValue":"${'QUJD'.repeat(2e6)}"`],
    [
      'members',
      Array(16)
        .fill(`"stringValue":"${'x'.repeat(400_000)}"`)
        .join(','),
    ],
    ['a name', `"${'x'.repeat(6.4e6)}":{"arrayValue":{"values":[${values}]}}`],
  ])('is refused for %s that no entity can have before they are read', async (_, members) => {
    const read = vi.spyOn(codec, 'messageFromJson')
    const body = Buffer.from(put(`{${members}}`))
    await expect(largeRequestFromJson(call(), 'Commit', body)).rejects.toThrow('more than a valid one can have')
    expect(read.mock.calls.filter(([, { length }]) => length > 100_000)).toEqual([])
  })

  test('is refused for base64 that is too long for a blob before it is decoded', async () => {
    const body = Buffer.from(put(`{"blobValue":"${'QUJD'.repeat(600_000)}"}`))
    await expect(largeRequestFromJson(call(), 'Commit', body)).rejects.toThrow('has 2400000 characters')
  })

  test('is refused for an integer of a million digits before it is computed', async () => {
    const body = Buffer.from(put(`{"integerValue":"${'0'.repeat(1e6)}"}`))
    await expect(largeRequestFromJson(call(), 'Commit', body)).rejects.toThrow('has 1000000 characters')
  })

  test.each([
    ['nothing', ' '.repeat(70_000)],
    ['few members', `  {"databaseId":"d"}${' '.repeat(70_000)}`],
    ['blanks inside', `{${' '.repeat(70_000)}}`],
    ['the list twice', `{"mutations":[],"mutations":[${long.join(',')}],"mutations":[${long.slice(1).join(',')}]}`],
    [
      'a property twice',
      `{"mutations":[{"upsert":{"properties":{"a":{"stringValue":"${'x'.repeat(20_000)}"},"a":{}}}}]}`,
    ],
    [
      'names in the other form',
      `{"database_id":"d","mutations":[{"upsert":{"properties":{"a":{"array_value":{"values":[${values}]}}}}}]}`,
    ],
  ])('is read with %s, as the whole is', async (_, text) => {
    expect(await inPieces(Buffer.from(text))).toEqual(await wholeOf(Buffer.from(text)))
  })

  test('of a method with limits is refused for a list that is too long before any of it is read', async () => {
    const keys = Array.from({ length: 1001 }, (_, i) => `{"path":[{"kind":"K","name":"name ${i}"}]}`)
    const read = vi.spyOn(codec, 'messageFromJson')
    const body = Buffer.from(`{"keys":[${keys.join(',')}]}`)
    await expect(largeRequestFromJson(call(), 'Lookup', body)).rejects.toThrow('names 1001 keys')
    expect(read).not.toHaveBeenCalled()
  })

  test.each([
    ['an array', put(`{"arrayValue":{"values":[${Array(20).fill(values).join(',')}]}}`)],
    [
      'an array in entities',
      put(`{"entityValue":{"properties":{"b":{"arrayValue":{"values":[${Array(20).fill(values).join(',')}]}}}}}`),
    ],
  ])('with %s in one value is read some 16 KiB at a time', async (_, text) => {
    const read = vi.spyOn(codec, 'bytesFromJson')
    await largeRequestFromJson(call(), 'Commit', Buffer.from(text))
    expect(Math.max(...read.mock.calls.map(([, { length }]) => length))).toBeLessThan(20 * 1024)
    expect(read.mock.calls.length).toBeGreaterThan(text.length / (20 * 1024))
  })
})

test('of several large answers one is made at a time, and one that is given up leaves its place', async () => {
  const { output } = codec.methodOf('Commit')
  const answerOf = (version: string): Buffer => {
    const mutationResults = Array.from({ length: 40_000 }, () => ({ version }))
    return Buffer.from(toBinary(output, fromJson(output, { mutationResults })))
  }
  const made: unknown[] = []
  const { jsonOf } = codec
  vi.spyOn(codec, 'jsonOf').mockImplementation((type, message) => {
    const json = jsonOf(type, message)
    made.push(...new Set(JSON.stringify(json).match(/\d{8}/g)))
    return json
  })
  const calls = [call(), call(), call()]
  const answers = calls.map((one, i) => longAnswerToJson('Commit', answerOf(`${11111111 * (i + 1)}`), one))
  calls[1]?.cancel()
  const ended = await Promise.allSettled(answers)
  expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(made.indexOf('33333333')).toBe(made.lastIndexOf('11111111') + 1)
})

test('a large answer does not stay in memory', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const { output } = codec.methodOf('Commit')
  const mutationResults = Array.from({ length: 40_000 }, () => ({ version: '11111111' }))
  const message = Buffer.from(toBinary(output, fromJson(output, { mutationResults })))
  const made = async (): Promise<WeakRef<object>> => new WeakRef(await longAnswerToJson('Commit', message, call()))
  const pieces = await made()
  await vi.waitFor(() => {
    collect()
    expect(pieces.deref() === undefined).toBe(true)
  })
})
