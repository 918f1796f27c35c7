import { expect, test } from 'vitest'
import type { MethodName } from '../methods.ts'
import { requestFromJson, requestMessageToJson } from './json-codec.ts'

test.each<[MethodName, string, string]>([
  ['Lookup', '{"keys":[{"path":[{"id":"x"}]}]}', 'PathElement.id from JSON: expected a whole number (int64), got "x"'],
  ['Lookup', '{"keys":[{"path":[{"id":99999999999999999999}]}]}', '99999999999999999999 out of range'],
  ['Commit', '{"mode":"NON"}', 'CommitRequest.Mode from JSON: "NON"; use TRANSACTIONAL or NON_TRANSACTIONAL'],
  [
    'Commit',
    '{"mutations":[{"upsert":{"properties":{"n":1}}}]}',
    'Value from JSON: 1; a value is written with its type, such as {"integerValue": "1"} or {"stringValue": "a"}',
  ],
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
  const many = Buffer.from(`{"mutations":[${'{},'.repeat(2_000_001)}{}]}`)
  expect(() => requestFromJson('Commit', many)).toThrow('more than 2000000 members')
})

test('base64 that is too long for a blob is refused before it is decoded, and an integer of a million digits before it is computed', () => {
  const put = (value: string): Buffer => Buffer.from(`{"mutations":[{"upsert":{"properties":{"a":${value}}}}]}`)
  expect(() => requestFromJson('Commit', put(`{"blobValue":"${'QUJD'.repeat(600_000)}"}`))).toThrow('has 2400000 char')
  expect(() => requestFromJson('Commit', put(`{"integerValue":"${'0'.repeat(1e6)}"}`))).toThrow('has 1000000 char')
})

test('a list that is too long is refused before any of it is read', () => {
  const keys = Array.from({ length: 1001 }, (_, i) => `{"path":[{"kind":"K","name":"name ${i}"}],"x":1}`)
  expect(() => requestFromJson('Lookup', Buffer.from(`{"keys":[${keys.join(',')}]}`))).toThrow('names 1001 keys')
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
