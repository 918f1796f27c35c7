import { expect, test } from 'vitest'
import { emptyValue, formOf, type Json, jsonOf, type ValueType, valueTypes } from './typed-json.ts'
import { converted, formInPlaceOf } from './value-conversion.ts'
import { problemsOf } from './value-problems.ts'

const now = (): Date => new Date('2026-11-21T10:00:00Z')

const samples: readonly Json[] = [
  { nullValue: null },
  { booleanValue: true },
  { integerValue: '9007199254740993' },
  { doubleValue: 'NaN' },
  { timestampValue: '2026-11-21T10:00:00.123456789Z' },
  { stringValue: 'ä ' },
  { blobValue: 'w6Q=' },
  { keyValue: { partitionId: {}, path: [{ kind: 'K', id: '1' }] } },
  { geoPointValue: { latitude: 1, longitude: 2 } },
  { arrayValue: { values: [{ integerValue: '5' }, { stringValue: 'a' }] } },
  { arrayValue: { values: [] } },
  { entityValue: { properties: { a: { integerValue: '5' } } } },
  { entityValue: { properties: {} } },
  { arrayValue: { values: [{ doubleValue: 1 }] }, meaning: 31, excludeFromIndexes: true },
  { moneyValue: {} },
]

const targets = valueTypes.filter((type) => type !== 'other')

test('value-conversion/V1: every value converts to every type without a problem, but for a key that is to be typed', () => {
  for (const sample of samples) {
    for (const type of targets) {
      const form = converted(formOf(sample), type, now)
      expect(form.type).toBe(type)
      const problems = problemsOf([{ name: 'a', value: form }])
      if (type !== 'key') expect(problems, `${JSON.stringify(sample)} to ${type}`).toEqual([])
    }
  }
})

test('to an array or an embedded entity and back is the same value', () => {
  for (const sample of samples.slice(1, 9)) {
    const form = formOf(sample)
    for (const by of ['array', 'entity'] as const) {
      expect(jsonOf(converted(converted(form, by, now), form.type, now))).toEqual(jsonOf(form))
    }
  }
})

test.each<[Json, ValueType, Json]>([
  [{ stringValue: ' 42 ' }, 'integer', { integerValue: '42' }],
  [{ stringValue: '9007199254740993' }, 'integer', { integerValue: '9007199254740993' }],
  [{ doubleValue: 1e20 }, 'integer', { integerValue: '100000000000000000000' }],
  [{ doubleValue: -1.5 }, 'integer', { integerValue: '-1' }],
  [{ integerValue: '7' }, 'double', { doubleValue: 7 }],
  [{ stringValue: 'true' }, 'boolean', { booleanValue: true }],
  [{ integerValue: '1795255200123456' }, 'timestamp', { timestampValue: '2026-11-21T10:00:00.123456Z' }],
  [{ timestampValue: '2026-11-21T10:00:00.123456Z' }, 'integer', { integerValue: '1795255200123456' }],
  [{ stringValue: 'ä' }, 'blob', { blobValue: 'w6Q=' }],
  [{ blobValue: 'w6Q=' }, 'string', { stringValue: 'ä' }],
  [{ integerValue: '5', excludeFromIndexes: true }, 'string', { stringValue: '5', excludeFromIndexes: true }],
  [
    { arrayValue: { values: [{ integerValue: '1' }, { stringValue: 'x' }, { doubleValue: 2.5 }] } },
    'vector',
    { arrayValue: { values: [{ doubleValue: 1 }, { doubleValue: 2.5 }] }, meaning: 31, excludeFromIndexes: true },
  ],
])('%j becomes a value of type %s', (from, type, to) => {
  expect(jsonOf(converted(formOf(from), type, now))).toEqual(to)
})

test('a text of a million characters becomes a blob and back', () => {
  const form = formOf({ stringValue: 'a'.repeat(1_000_000) })
  expect(converted(converted(form, 'blob', now), 'string', now)).toEqual(form)
})

test.each([
  ['2026-02-28', '2026-02-28T00:00:00.000Z'],
  ['2024-02-29T10:00:00+01:00', '2024-02-29T09:00:00.000Z'],
  // There is no such day, though a browser takes it for 2 March: the form says so.
  ['2030-02-30', '2030-02-30'],
  ['2030-02-30T10:00:00Z', '2030-02-30T10:00:00Z'],
  ['2030-02-30 10:00', '2030-02-30 10:00'],
  ['+012345-01-01T00:00:00Z', '2026-11-21T10:00:00.000Z'],
  ['soon', '2026-11-21T10:00:00.000Z'],
])('the text %s becomes the timestamp %s', (text, timestampValue) => {
  expect(jsonOf(converted({ ...emptyValue, text }, 'timestamp', now))).toEqual({ timestampValue })
})

test('a value in the place of null is indexed as null was, and numbers are a vector', () => {
  const none = formOf({ nullValue: null, excludeFromIndexes: true })
  expect(jsonOf({ ...formInPlaceOf(none, 'string'), text: 'a' })).toEqual({
    stringValue: 'a',
    excludeFromIndexes: true,
  })
  expect(jsonOf({ ...formInPlaceOf(formOf({ nullValue: null }), 'vector'), text: '1, 2' })).toEqual({
    arrayValue: { values: [{ doubleValue: 1 }, { doubleValue: 2 }] },
    meaning: 31,
    excludeFromIndexes: true,
  })
})
