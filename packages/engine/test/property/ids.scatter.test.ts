/**
 * unscatter is the inverse of scatter, both ways.
 *             scatter is injective, and every value is inside the scattered space, none in the sequential one.
 * The first 2^k counters give exactly the left edges of 2^k equal parts of the space.
 *
 * And the reason for it all: 10,000 scattered ids spread over 64 equal ranges, sequential ones do not.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import {
  counterMax,
  counterOf,
  scatteredIdMax,
  scatteredIdMin,
  scatterId,
  sequentialIdMax,
} from '../../src/ids/scatter.ts'

const scatteredCounterMax = BigInt(counterMax.scattered)
const counters = fc.oneof(
  fc.bigInt({ min: 1n, max: scatteredCounterMax }),
  fc.integer({ min: 1, max: 100_000 }).map(BigInt),
  // Around powers of two carries cross the 32-bit halves.
  fc
    .tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: -3, max: 3 }))
    .map(([bits, by]) => 2n ** BigInt(bits) + BigInt(by))
    .filter((c) => c >= 1n && c <= scatteredCounterMax),
)

/** The definition, bit by bit: mirror the 64 bits of the counter shifted left by 13. */
function mirrored(counter: bigint): bigint {
  const bits = (counter << 13n).toString(2).padStart(64, '0')
  return scatteredIdMin + BigInt(`0b${[...bits].reverse().join('')}`)
}

describe('scattered ids', () => {
  test('a counter comes back from its id', () => {
    fc.assert(
      fc.property(counters, (c) => counterOf(scatterId(c)) === c),
      { numRuns: runs(2000) },
    )
  })

  test('an id comes back from its counter', () => {
    const ids = fc.bigInt({ min: scatteredIdMin, max: scatteredIdMax })
    fc.assert(
      fc.property(ids, (id) => scatterId(counterOf(id)) === id),
      { numRuns: runs(2000) },
    )
  })

  test('the fast form equals the definition', () => {
    fc.assert(
      fc.property(counters, (c) => scatterId(c) === mirrored(c)),
      { numRuns: runs(2000) },
    )
  })

  test('different counters give different ids, all inside the scattered space', () => {
    fc.assert(
      fc.property(counters, counters, (a, b) => {
        const id = scatterId(a)
        return (
          (a === b) === (id === scatterId(b)) && id > scatteredIdMin && id <= scatteredIdMax && id > sequentialIdMax
        )
      }),
      { numRuns: runs(2000) },
    )
  })

  test('the first 2^k counters cut the space into equal parts', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 12 }), (k) => {
        const ids = Array.from({ length: 2 ** k }, (_, c) => scatterId(BigInt(c))).sort((a, b) => (a < b ? -1 : 1))
        return ids.every((id, j) => id === scatteredIdMin + BigInt(j) * 2n ** BigInt(51 - k))
      }),
      { numRuns: runs(25) },
    )
  })
})

/** The share of the busiest of 64 equal ranges of the whole id space, 0 to 2^52 + 2^51. */
function busiestShare(ids: readonly bigint[], low: bigint, high: bigint): number {
  const counts = new Array<number>(64).fill(0)
  for (const id of ids) {
    const range = Number(((id - low) * 64n) / (high - low + 1n))
    counts[range] = (counts[range] ?? 0) + 1
  }
  return Math.max(...counts) / ids.length
}

describe('the spread of 10,000 ids over 64 equal ranges', () => {
  const size = 10_000

  test('scattered ids keep the busiest range within one id of its fair share, from any counter on', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: scatteredCounterMax - BigInt(size) }), (from) => {
        const ids = Array.from({ length: size }, (_, i) => scatterId(from + BigInt(i)))
        expect(busiestShare(ids, scatteredIdMin, scatteredIdMax)).toBeLessThanOrEqual((size / 64 + 1) / size)
      }),
      { numRuns: runs(20) },
    )
  })

  test('sequential ids are all in one range, wherever the counter stands', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 63n }), (range) => {
        const from = range * 2n ** 46n + 1n
        const ids = Array.from({ length: size }, (_, i) => from + BigInt(i))
        expect(busiestShare(ids, 0n, sequentialIdMax)).toBe(1)
      }),
      { numRuns: runs(20) },
    )
  })
})
