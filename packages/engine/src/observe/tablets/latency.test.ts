import { expect, test } from 'vitest'
import { LatencyHistogram } from './step-ring.ts'

test('percentiles are at most a tenth above the truth, and weights count', () => {
  const histogram = new LatencyHistogram()
  for (let ms = 1; ms <= 100; ms++) histogram.add(20_000, ms <= 50 ? 1 : 3, ms)
  histogram.add(20_000, 5, undefined)
  const { perSecond, rejectedPerSecond, latencyP50Ms: p50, latencyP99Ms: p99 } = histogram.report(20_500, 10_000, 0)
  expect(p50 / 67).toBeGreaterThan(0.97)
  expect(p50 / 67).toBeLessThan(1.1)
  expect(p99 / 99).toBeLessThan(1.1)
  expect(perSecond).toBeCloseTo(205 / 9.5)
  expect(rejectedPerSecond).toBeCloseTo(5 / 9.5)
})

test('what is older than the span is forgotten', () => {
  const histogram = new LatencyHistogram()
  histogram.add(20_000, 1, 7)
  expect(histogram.report(29_000, 10_000, 0).latencyP50Ms).toBeGreaterThan(7)
  expect(histogram.report(30_000, 10_000, 0)).toEqual({
    perSecond: 0,
    rejectedPerSecond: 0,
    latencyP50Ms: 0,
    latencyP99Ms: 0,
  })
})
