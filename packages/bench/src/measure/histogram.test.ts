import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Histogram } from './histogram.ts'

describe('a histogram', () => {
  it('gives any quantile of any durations to five percent', () => {
    const durations = fc.array(fc.double({ min: 0.01, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 200 })
    fc.assert(
      fc.property(durations, fc.double({ min: 0.01, max: 1, noNaN: true }), (values, share) => {
        const histogram = new Histogram()
        for (const value of values) histogram.add(value)
        const sorted = [...values].sort((a, b) => a - b)
        // By a rounding error, 0.3 × 10 may be above 3: the 3rd and the 4th duration are both right then.
        const exact = (error: number): number => {
          const place = Math.ceil(values.length * share + error)
          return sorted[Math.min(values.length, Math.max(1, place)) - 1] as number
        }
        const given = histogram.quantile(share)
        expect(given).toBeGreaterThanOrEqual(exact(-1e-9) * 0.9999)
        expect(given).toBeLessThanOrEqual(exact(1e-9) * 1.0501)
      }),
    )
  })

  it('counts a weight as so many durations', () => {
    const histogram = new Histogram()
    histogram.add(1, 98)
    histogram.add(1000, 2)
    expect(histogram.quantile(0.98)).toBeCloseTo(1, 1)
    expect(histogram.quantile(0.99)).toBe(1000)
    expect(histogram.weight).toBe(100)
  })

  it('is empty at first', () => {
    const histogram = new Histogram()
    expect([histogram.weight, histogram.quantile(0.99), histogram.max]).toEqual([0, 0, 0])
  })
})
