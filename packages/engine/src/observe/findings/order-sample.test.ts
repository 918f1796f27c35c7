import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OrderSample } from './order-sample.ts'

function shares(codes: readonly string[]): { readonly follows: number; readonly tops: number } {
  const sample = new OrderSample()
  let follows = 0
  let tops = 0
  let judged = 0
  for (const code of codes) {
    const [landing] = sample.add([code])
    if (landing === undefined || sample.size <= 64) continue
    judged++
    if (landing.follows) follows++
    if (landing.tops) tops++
  }
  return { follows: follows / judged, tops: tops / judged }
}

const padded = (i: number): string => String(i).padStart(6, '0')

describe('codes in order', () => {
  test('all follow and are at the top, rising or falling', () => {
    const rising = Array.from({ length: 400 }, (_, i) => padded(i))
    expect(shares(rising)).toEqual({ follows: 1, tops: 1 })
    expect(shares(rising.toReversed())).toEqual({ follows: 1, tops: 1 })
  })

  test('follow when their numbers are not padded: Customer9, Customer10', () => {
    expect(shares(Array.from({ length: 400 }, (_, i) => `Customer${i}`)).follows).toBeGreaterThan(0.9)
  })

  test('follow when four clients count up side by side', () => {
    const codes = Array.from({ length: 400 }, (_, i) => padded((i % 4) * 10_000 + Math.floor(i / 4)))
    expect(shares(codes).follows).toBe(1)
  })

  test('that are spread do neither, whatever the seed', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 999_999 }), { minLength: 400, maxLength: 400 }), (drawn) => {
        // fast-check leans to small numbers; what is asked here is how spread codes fare.
        const spread = drawn.map((n) => padded((Math.imul(n + 1, 0x9e3779b1) >>> 0) % 1_000_000))
        const { follows, tops } = shares(spread)
        expect(follows).toBeLessThan(0.5)
        expect(tops).toBeLessThan(0.5)
      }),
      { numRuns: 50 },
    )
  })
})

test('it holds at most 256 codes, each once', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 2000 }), (numbers) => {
      const sample = new OrderSample()
      for (const n of numbers) sample.add([padded(n)])
      expect(sample.size).toBeLessThanOrEqual(Math.min(256, new Set(numbers).size))
    }),
    { numRuns: 50 },
  )
})

test('a code that is there already lands nowhere', () => {
  const sample = new OrderSample()
  expect(sample.add(['a', 'a'])).toEqual([expect.anything(), expect.anything()])
  expect(sample.add(['a'])).toEqual([undefined])
  expect(sample.size).toBe(1)
})

describe('codes that come together', () => {
  /** The share of those after the first commit that follow. */
  function following(commits: readonly (readonly number[])[]): number {
    const sample = new OrderSample()
    const landings = commits.flatMap((numbers, i) => {
      const landed = sample.add(numbers.map(padded).sort())
      return i === 0 ? [] : landed
    })
    return landings.filter((landing) => landing?.follows).length / landings.length
  }

  const commits = (size: number, numberOf: (i: number) => number): number[][] =>
    Array.from({ length: 6 }, (_, commit) => Array.from({ length: size }, (_, i) => numberOf(commit * size + i)))

  test.each([20, 100, 500])('%i at a time, follow where each commit goes on from one of the last', (size) => {
    expect(following(commits(size, (i) => i))).toBe(1)
    expect(following(commits(size, (i) => 900_000 - i))).toBe(1)
    // Three clients, each with its own numbers: the first commit of each continues no other.
    const three = commits(
      size,
      (i) => (Math.floor(i / size) % 3) * 300_000 + Math.floor(i / size / 3) * size + (i % size),
    )
    expect(following(three)).toBeGreaterThan(0.5)
  })

  test.each([20, 100, 500])('%i at a time, do not follow where they are spread, though stored in order', (size) => {
    const spread = commits(size, (i) => (Math.imul(i + 1, 0x9e3779b1) >>> 0) % 1_000_000)
    expect(following(spread)).toBeLessThan(0.5)
  })
})
