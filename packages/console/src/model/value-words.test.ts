import { expect, test } from 'vitest'
import { type ApiValue, valueWords } from './value-words.ts'

test.each<[ApiValue, string, string]>([
  [{ nullValue: null }, 'null', 'null'],
  [{ booleanValue: false }, 'boolean', 'false'],
  [{ integerValue: '9223372036854775807' }, 'integer', '9223372036854775807'],
  [{ doubleValue: 5 }, 'double', '5.0'],
  [{ doubleValue: -0 }, 'double', '-0.0'],
  [{ doubleValue: 'NaN' }, 'double', 'NaN'],
  [{ timestampValue: '2030-01-01T00:00:00.000001Z' }, 'timestamp', '2030-01-01T00:00:00.000001Z'],
  [
    {
      keyValue: {
        path: [
          { kind: 'User', name: 'ada' },
          { kind: 'ToDo', id: '5' },
        ],
      },
    },
    'key',
    'User:"ada"/ToDo:5',
  ],
  [{ stringValue: '' }, 'string', ''],
  [{ blobValue: 'AQID' }, 'blob', '3 bytes'],
  [{ blobValue: 'AQ==' }, 'blob', '1 byte'],
  [{ geoPointValue: { latitude: 1.5 } }, 'geo point', '1.5, 0'],
  [{ entityValue: { properties: { a: { integerValue: '1' }, b: { stringValue: 'x' } } } }, 'entity', '{a: 1, b: "x"}'],
  [{ entityValue: {} }, 'entity', '{}'],
  [{ arrayValue: { values: [{ nullValue: null }, { doubleValue: 2 }] } }, 'array', '[null, 2.0]'],
  [{ arrayValue: {} }, 'array', '[]'],
  [
    { arrayValue: { values: [{ doubleValue: 1 }, { doubleValue: 0.5 }] }, meaning: 31 },
    'vector',
    '2 dimensions [1.0, 0.5]',
  ],
])('%j', (value, type, words) => {
  expect(valueWords(value)).toEqual({ type, words })
})

test('words stay short, and whole characters', () => {
  const long = { stringValue: '😀'.repeat(100_000) }
  const array: ApiValue = {
    arrayValue: { values: Array.from({ length: 10_000 }, () => ({ entityValue: { properties: { long } } })) },
  }
  expect(valueWords(array).words.length).toBeLessThan(450)
  expect(valueWords({ stringValue: `${'a'.repeat(199)}😀b` }).words).toBe(`${'a'.repeat(199)}…`)
})
