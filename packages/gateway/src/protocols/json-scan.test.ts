import { partLimits } from '@sixtables/engine'
import { describe, expect, test } from 'vitest'
import { scanJson } from './json-text.ts'

const limits = new Map([
  ['aggregations', partLimits.aggregations],
  ['path', partLimits.pathElements],
])

const scan = (text: string): readonly string[] => {
  const bytes = Buffer.from(text)
  return scanJson(bytes, limits).map(({ start, end }) => bytes.toString('latin1', start, end))
}

const list = (count: number, element = '{}'): string => `[${Array.from({ length: count }, () => element).join(',')}]`

describe('S2', () => {
  test.each([
    ['lists', '['],
    ['objects', '{"a":'],
  ])('%s may be nested 200 levels deep and no deeper', (_what, opening) => {
    expect(scan(opening.repeat(200))).toEqual([])
    expect(() => scan(opening.repeat(201))).toThrow('nested deeper than 200 levels')
    expect(() => scan(opening.repeat(1_000_000))).toThrow('nested deeper than 200 levels')
  })

  test('levels that were closed do not count', () => {
    expect(scan('[{}]'.repeat(1000))).toEqual([])
  })

  test('a list with a limit may have as many elements, and none more', () => {
    expect(scan(`{"aggregations":${list(5)}}`)).toEqual([])
    expect(() => scan(`{"aggregations":${list(6)}}`)).toThrow('aggregation query is 5. Received: 6')
    expect(() => scan(`{"query": {"aggregations" : [ ${list(6).slice(1, -1)} ] }}`)).toThrow('Received: 6')
  })

  test('each list is counted for itself, and by its own name', () => {
    const path = list(60, '{"kind":"aggregations","names":[1,2,3,4,5,6]}')
    expect(scan(`{"keys":[{"path":${path}},{"path":${path}}],"other":${list(200)}}`)).toEqual([])
    expect(() => scan(`{"keys":[{"path":[]},{"path":${list(101)}}]}`)).toThrow('101 path elements')
  })

  test('commas and brackets in strings do not count', () => {
    expect(scan(`{"aggregations":["a,b,c,d,e,f,\\",]"],"x":"${'['.repeat(300)}"}`)).toEqual([])
  })
})

describe('S3', () => {
  test.each(['1e400', '-1e400', '1E+309', '1e309', '9'.repeat(400), '-1.8e308'])('%s is refused', (number) => {
    expect(() => scan(`{"doubleValue":${number}}`)).toThrow('out of the range of doubles')
  })

  test('the largest doubles, and the smallest, are not', () => {
    expect(scan('[1.7976931348623157e308,-1e308,1e-400,0.1]')).toEqual([])
  })

  test('a number in a string is not looked at', () => {
    expect(scan('{"stringValue":"1e400"}')).toEqual([])
  })
})

test('integers that a double may round are found where they stand', () => {
  expect(scan('{"a":9007199254740993,"b":[-9223372036854775808,123456789012345],"1234567890123456":0}')).toEqual([
    '9007199254740993',
    '-9223372036854775808',
  ])
})
