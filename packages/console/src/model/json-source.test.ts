import { expect, test } from 'vitest'
import { JsonSourceError, jsonSource, parseJsonSource } from './json-source.ts'

test('properties are the same after they were written and read', () => {
  const properties = { a: { stringValue: '"{:' }, b: { arrayValue: { values: [{ integerValue: '5' }] } } }
  expect(parseJsonSource(jsonSource(properties))).toEqual(properties)
})

test('a value stands on one line where it has room', () => {
  const long = { arrayValue: { values: [{ stringValue: 'x'.repeat(60) }, { stringValue: 'y'.repeat(60) }] } }
  expect(
    jsonSource({ a: { integerValue: '5' }, long })
      .split('\n')
      .slice(0, 6),
  ).toEqual([
    '{',
    '  "a": { "integerValue": "5" },',
    '  "long": {',
    '    "arrayValue": {',
    '      "values": [',
    `        { "stringValue": "${'x'.repeat(60)}" },`,
  ])
})

test('characters that cannot be seen are written as escapes', () => {
  const properties = { 'a\u202e': { stringValue: 'b\u200b\u0085' } }
  expect(jsonSource(properties)).toContain('"a\\u202e"')
  expect(jsonSource(properties)).toContain('"b\\u200b\\u0085"')
  expect(parseJsonSource(jsonSource(properties))).toEqual(properties)
})

test.each([
  ['{', 'This is not JSON'],
  ['[]', 'The properties are an object'],
  ['{"a": {"stringValue": "x"}, "b": {}, "\\u0061": {}}', 'The member "a" comes twice'],
  ['{"a": {"integerValue": 9007199254740993}}', 'write it in quotes'],
  ['{"a": {"arrayValue": {"values": [{"integerValue": -9007199254740993}]}}}', 'write it in quotes'],
])('%s is refused: %s', (text, message) => {
  expect(() => parseJsonSource(text)).toThrow(JsonSourceError)
  expect(() => parseJsonSource(text)).toThrow(message)
})

test('the same name in two objects, and as a text, is no repetition', () => {
  const text =
    '{"a": {"stringValue": "a"}, "b": {"stringValue": "{\\"a\\":"}, "c": {"arrayValue": {"values": [{"nullValue": null}, {"nullValue": null}]}}}'
  expect(Object.keys(parseJsonSource(text))).toEqual(['a', 'b', 'c'])
})
