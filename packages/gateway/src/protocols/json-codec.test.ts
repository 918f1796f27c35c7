/** Long answers: the same JSON as of the whole message, printed in pieces between other calls. */

import { fromJson, toBinary } from '@bufbuild/protobuf'
import { turnScheduler } from '@sixtables/engine/testing'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { Call } from '../call.ts'
import type { MethodName } from '../methods.ts'
import { registry } from './descriptors.ts'
import * as codec from './json-codec.ts'
import { answerToJson, requestFromJson, requestMessageToJson } from './json-codec.ts'
import { longAnswerToJson } from './json-large.ts'
import type { Json } from './json-text.ts'

let turns = 0
const call = (): Call => new Call({ clock: turnScheduler(() => turns++) })

function messageOf(method: MethodName, json: Json): Buffer {
  const type = registry.getMessage(`google.datastore.v1.${method}Response`)
  if (type === undefined) throw new Error(`no ${method}Response among the descriptors`)
  return Buffer.from(toBinary(type, fromJson(type, json, { registry })))
}

const keyOf = (name: string): Json => ({ path: [{ kind: 'K', name }] })
const entityOf = (name: string): Json => ({
  entity: { key: keyOf(name), properties: { one: { doubleValue: 1 }, other: { stringValue: name } } },
  version: '5',
})

/** Answers with a list of these names and all other fields that they can have. */
const answers: Partial<Record<MethodName, (names: readonly string[]) => Json>> = {
  Lookup: (names) => ({
    found: names.map(entityOf),
    missing: [entityOf('absent')],
    deferred: [keyOf('later')],
    readTime: '2026-01-01T00:00:00Z',
  }),
  RunQuery: (names) => ({
    batch: {
      entityResultType: 'FULL',
      entityResults: names.map(entityOf),
      endCursor: 'AAAA',
      moreResults: 'NO_MORE_RESULTS',
    },
    transaction: 'AAAA',
  }),
  Commit: (names) => ({
    mutationResults: names.map((name) => ({ key: keyOf(name), version: '7' })),
    indexUpdates: 3,
  }),
  AllocateIds: (names) => ({ keys: names.map(keyOf) }),
  Rollback: () => ({}),
}

test.each<[MethodName, string, string]>([
  ['Lookup', '{"keys":[{"path":[{"id":"x"}]}]}', 'PathElement.id from JSON: expected a whole number (int64), got "x"'],
  ['Lookup', '{"keys":[{"path":[{"id":99999999999999999999}]}]}', '99999999999999999999 out of range'],
  ['Commit', '{"mode":"NON"}', 'CommitRequest.Mode from JSON: "NON"; use TRANSACTIONAL or NON_TRANSACTIONAL'],
])('%s of %s is refused with what would be right', (method, body, words) => {
  expect(() => requestFromJson(method, Buffer.from(body))).toThrow(words)
})

test('the reason of a refusal shows the begin of a long name', () => {
  const body = Buffer.from(`{"${'x'.repeat(50_000)}":1}`)
  expect(() => requestFromJson('Commit', body)).toThrow(/: key "x{900,1000}…$/)
})

test('a body with too many members is refused before it is read, unless the method has a list of any length', () => {
  const body = Buffer.from(`{${Array.from({ length: 100_002 }, (_, i) => `"m${i}":1`).join(',')}}`)
  expect(() => requestFromJson('RunQuery', body)).toThrow('more than 100000 members')
  expect(() => requestFromJson('Commit', body)).toThrow('key "m0" is unknown')
})

const inPiecesOf = async (method: MethodName, message: Buffer): Promise<string> =>
  Buffer.concat(await longAnswerToJson(method, message, call())).toString()

/** Both texts; the second may have its members in another order. */
async function textsOf(method: MethodName, message: Buffer): Promise<{ whole: string; inPieces: string }> {
  return { whole: answerToJson(method, message), inPieces: await inPiecesOf(method, message) }
}

describe('a long answer', () => {
  test.each(Object.entries(answers))('of %s is what it is as a whole', async (name, answerOf) => {
    const method = name as MethodName
    const names = fc.array(fc.constantFrom('a', 'ü"\\', 'x'.repeat(9000), ''), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(names, async (list) => {
        const { whole, inPieces } = await textsOf(method, messageOf(method, answerOf(list)))
        expect(JSON.parse(inPieces)).toEqual(JSON.parse(whole))
        expect(inPieces.split(/,?\n/).sort()).toEqual(whole.split(/,?\n/).sort())
      }),
      { numRuns: 30 },
    )
  })

  test.each(Object.entries(answers).filter(([method]) => method !== 'Rollback'))(
    'of %s leaves the event loop to others',
    async (name, answerOf) => {
      const method = name as MethodName
      const message = messageOf(method, answerOf(Array.from({ length: 5000 }, (_, i) => `${i}${'x'.repeat(100)}`)))
      let others = 0
      let isOver = false
      const next = (): void => {
        others++
        if (!isOver) setImmediate(next)
      }
      setImmediate(next)
      await longAnswerToJson(method, message, call())
      isOver = true
      expect(others).toBeGreaterThan(message.length / (128 * 1024))
    },
  )

  test('has the base64 of a large blob without the library, which makes it by characters', async () => {
    const blobValue = Buffer.alloc(100_000, 'a\xff\xfb', 'latin1').toString('base64')
    const { entity } = entityOf('b') as { entity: { properties: Json } }
    const found = [{ entity: { ...entity, properties: { b: { blobValue, excludeFromIndexes: true } } } }]
    const message = messageOf('Lookup', { found })
    const whole = answerToJson('Lookup', message)
    const encode = vi.spyOn(codec, 'jsonOf')
    expect(JSON.parse(await inPiecesOf('Lookup', message))).toEqual(JSON.parse(whole))
    expect(Math.max(...encode.mock.calls.map(([, { length }]) => length))).toBeLessThan(1000)
  })

  test.each(['Lookup', 'RunQuery'] as const)(
    'of %s prints the properties of a large entity in pieces',
    async (method) => {
      const large = (name: string): Json => ({
        entity: {
          key: keyOf(name),
          properties: Object.fromEntries(
            Array.from({ length: 5000 }, (_, i) => [i === 7 ? '__proto__' : `p${i}`, { stringValue: `ü${i}` }]),
          ),
        },
        cursor: 'AAAA',
      })
      const results = [entityOf('small'), large('one'), large('two'), entityOf('small')]
      const message = messageOf(
        method,
        method === 'Lookup' ? { found: results } : { batch: { entityResults: results } },
      )
      turns = 0
      const { whole, inPieces } = await textsOf(method, message)
      expect(inPieces.split(/,?\n/).sort()).toEqual(whole.split(/,?\n/).sort())
      expect(JSON.parse(inPieces)).toEqual(JSON.parse(whole))
      // Some thousand properties in a turn.
      expect(turns).toBeGreaterThan(6)
    },
  )
})

// Measured: both of Google's emulators store these instants.
test.each([
  ['2030-02-30T10:00:00Z', '2030-03-02T10:00:00Z'],
  ['2030-04-31T00:00:00+01:00', '2030-04-30T23:00:00Z'],
  ['2030-01-01T24:00:00Z', '2030-01-02T00:00:00Z'],
])('the timestamp %s, which no calendar has, is %s', (given, stored) => {
  const entity = { properties: { at: { timestampValue: given } } }
  const message = requestFromJson('Commit', Buffer.from(JSON.stringify({ mutations: [{ insert: entity }] })))
  expect(requestMessageToJson('Commit', message)).toContain(`"timestampValue": "${stored}"`)
})
