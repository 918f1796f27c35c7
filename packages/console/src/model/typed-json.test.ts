import { expect, test } from 'vitest'
import { formOf, type Json, jsonOf } from './typed-json.ts'
import { problemsOf } from './value-problems.ts'

test.each<[string, Json]>([
  ['a null', { nullValue: null }],
  ['a boolean', { booleanValue: false }],
  ['an integer beyond 2^53', { integerValue: '9007199254740993' }],
  ['a double', { doubleValue: 1.5 }],
  ['minus zero', { doubleValue: '-0' }],
  ['a double that is no number', { doubleValue: 'NaN' }],
  ['an infinity', { doubleValue: '-Infinity' }],
  ['a timestamp to the nanosecond', { timestampValue: '2026-11-21T10:00:00.123456789Z' }],
  ['a string', { stringValue: 'a\r\n\u202e\u0000' }],
  ['a blob', { blobValue: 'AP8=' }],
  ['a geo point', { geoPointValue: { latitude: '-0', longitude: 13.4 } }],
  [
    'a key of another partition',
    {
      keyValue: {
        partitionId: { projectId: 'p', databaseId: 'd', namespaceId: 'n' },
        path: [
          { kind: 'A b', name: '5' },
          { kind: 'ToDo', id: '-9223372036854775808' },
        ],
      },
    },
  ],
  [
    'a vector',
    { arrayValue: { values: [{ doubleValue: 1 }, { doubleValue: '-0' }] }, meaning: 31, excludeFromIndexes: true },
  ],
  [
    'an array of meaning 31 with other members',
    { arrayValue: { values: [{ doubleValue: 1, meaning: 5 }] }, meaning: 31 },
  ],
  ['an empty array', { arrayValue: { values: [] } }],
  ['an array', { arrayValue: { values: [{ integerValue: '1', excludeFromIndexes: true }, { nullValue: null }] } }],
  [
    'an embedded entity',
    { entityValue: { properties: { __proto__x: { stringValue: 'a' } } }, excludeFromIndexes: true },
  ],
  [
    'an embedded entity with a key',
    { entityValue: { key: { partitionId: { projectId: 'p' }, path: [{ kind: 'K' }] }, properties: {} } },
  ],
  ['a value with a meaning', { integerValue: '50', meaning: 13 }],
  ['a flag that is written out', { stringValue: 'a', excludeFromIndexes: false }],
  ['a type that the console does not know', { moneyValue: { units: '5' }, meaning: 3, excludeFromIndexes: true }],
  ['a known type with a member that it does not know', { geoPointValue: { latitude: 1, longitude: 2, altitude: 3 } }],
  ['a key with a member that it does not know', { keyValue: { path: [{ kind: 'K', id: '1' }], owner: 'ada' } }],
])('typed-json/T1: %s is the same after the form', (_, json) => {
  expect(jsonOf(formOf(json))).toEqual(json)
  expect(problemsOf([{ name: 'a', value: formOf(json) }])).toEqual([])
})

test('the server writes -0 as a number, and the form keeps it', () => {
  expect(jsonOf(formOf(JSON.parse('{"doubleValue": -0.0}')))).toEqual({ doubleValue: '-0' })
})

test('a property with the name __proto__ stays a property', () => {
  const json = JSON.parse('{"entityValue": {"properties": {"__proto__": {"stringValue": "a"}}}}') as Json
  expect(JSON.stringify(jsonOf(formOf(json)))).toBe(JSON.stringify(json))
})
