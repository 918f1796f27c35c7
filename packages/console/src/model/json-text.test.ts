import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonText } from './json-text.ts'

test('a text is read as the value that it was made of, negative zero included', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.stringify(JSON.parse(jsonText(value)))).toBe(JSON.stringify(value))
    }),
  )
  expect(Object.is(JSON.parse(jsonText([-0]))[0], -0)).toBe(true)
})

test('a level is two blanks, and what is empty stays on its line', () => {
  expect(jsonText({ a: [1, {}], b: [] })).toBe('{\n  "a": [\n    1,\n    {}\n  ],\n  "b": []\n}')
})
