import { expect, test } from 'vitest'
import { type Manner, Series, Sightings } from './series.ts'

function seriesOf(names: readonly string[]): Series {
  const sightings = new Sightings<string>()
  for (const name of names) sightings.note(name, name)
  return new Series(sightings.terms, sightings.isClosed)
}

const twenty = Array.from({ length: 20 }, (_, i) => i)
const hashes = twenty.map((i) => (Math.imul(i + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0'))

test.each<[string, readonly string[], Manner, string, string]>([
  ['padded numbers', twenty.map((i) => `o-${String(i + 1).padStart(5, '0')}`), 'rising', 'o-00003', 'o-00043'],
  ['numbers of several lengths', twenty.map((i) => `Customer${i + 1}`), 'rising', 'Customer3', 'Customer43'],
  [
    'seconds',
    twenty.map((i) => `2030-01-01T00:00:${i + 10}Z`),
    'rising',
    '2030-01-01T00:00:12Z',
    '2030-01-01T00:00:52Z',
  ],
  ['a time that runs down', twenty.map((i) => `t${900 - i}`), 'falling', 't898', 't858'],
  ['copies of one', twenty.map((i) => `page-${i % 4}`), 'closed', 'page-2', 'page-2'],
  ['few', ['a1', 'a2', 'a3'], 'too few', 'a2', 'a2'],
  ['words', [...'abcdefghij'].map((letter, i) => letter.repeat(i + 1)), 'without form', 'bb', 'bb'],
])('series: %s', (_what, names, manner, name, third) => {
  const series = seriesOf(names)
  expect([series.manner, series.at(name, 0), series.at(name, 2)]).toEqual([manner, name, third])
})

test('scattered names stay scattered: each pass has its own, the same whenever one is asked for', () => {
  const series = seriesOf(hashes)
  expect(series.manner).toBe('scattered')
  const passes = [0, 1, 2].map((pass) => hashes.map((name) => `${series.at(name, pass)}`))
  expect(passes[0]).toEqual(hashes)
  expect(new Set(passes.flat()).size).toBe(60)
  expect(hashes.map((name) => series.at(name, 2))).toEqual(passes[2])
  const upperHalf = passes[1]?.filter((name) => name >= '8').length ?? 0
  expect(upperHalf).toBeGreaterThan(4)
  expect(upperHalf).toBeLessThan(16)
})

test('a form that has no room left comes round, and says after how many passes', () => {
  expect(seriesOf(twenty.map((i) => `n${i + 10}`)).passesMax).toBe(4n)
  expect(seriesOf(twenty.map((i) => `n${i + 10}`)).at('n10', 5)).toBe('n10')
})
