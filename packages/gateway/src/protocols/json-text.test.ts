import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Json, parseJson as parseBody, printJson } from './json-text.ts'

function parseJson(text: string): Json {
  return parseBody(Buffer.from(text), new Map())
}

describe('reading', () => {
  test('keeps long integers exact, as strings', () => {
    expect(parseJson('{"a":9007199254740993,"b":[-9223372036854775808],"c":123456789012345}')).toEqual({
      a: '9007199254740993',
      b: ['-9223372036854775808'],
      c: 123456789012345,
    })
  })

  test('leaves digits in strings and in doubles alone', () => {
    const text = '{"9007199254740993":"\\"9007199254740993,","d":9007199254740993.5,"e":1234567890123456e3}'
    expect(parseJson(text)).toEqual(JSON.parse(text))
  })

  test('refuses what is no JSON', () => {
    for (const text of ['{', '{"a":12345678901234567890', '{"a":00000000000000000001}', "{'a':1}"]) {
      expect(() => parseJson(text)).toThrow('the body is not JSON')
    }
  })

  test('is that of the language where no integer is long', () => {
    const small = fc.jsonValue({ maxDepth: 4, noUnicodeString: false })
    fc.assert(
      fc.property(small, (value) => {
        const text = JSON.stringify(value)
        const long = /\d{16}/.test(text.replace(/"(?:[^"\\]|\\.)*"/g, ''))
        fc.pre(!long)
        expect(parseJson(text)).toEqual(JSON.parse(text))
      }),
      { numRuns: 200 },
    )
  })
})

describe('printing', () => {
  test('is that of the language, two blanks a level, but for the line break at the end', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const plain = JSON.parse(JSON.stringify(value))
        expect(printJson(plain)).toBe(`${JSON.stringify(plain, null, 2)}\n`)
      }),
      { numRuns: 200 },
    )
  })

  test('shows doubles as doubles', () => {
    expect(printJson({ doubleValue: 1, latitude: -0, longitude: 1e21, offset: 1 })).toBe(
      '{\n  "doubleValue": 1.0,\n  "latitude": -0.0,\n  "longitude": 1e+21,\n  "offset": 1\n}\n',
    )
  })

  test.each([
    ['0.5', 0.5],
    ['0.0', 0],
    ['-0.0', -0],
    ['-7.0', -7],
    ['1e+21', 1e21],
    ['"NaN"', 'NaN'],
    [String.raw`"\"doubleValue\": 5\n"`, '"doubleValue": 5\n'],
  ])('shows the double %s alone, first and last', (text, value) => {
    expect(printJson({ doubleValue: value })).toBe(`{\n  "doubleValue": ${text}\n}\n`)
    expect(printJson({ longitude: value, a: 1 })).toBe(`{\n  "longitude": ${text},\n  "a": 1\n}\n`)
    expect(printJson([{ a: 1, latitude: value }, 2])).toBe(
      `[\n  {\n    "a": 1,\n    "latitude": ${text}\n  },\n  2\n]\n`,
    )
  })
})
