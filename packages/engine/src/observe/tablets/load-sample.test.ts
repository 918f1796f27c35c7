import { expect, test } from 'vitest'
import { seededRandom } from '../../random.ts'
import { LoadSample } from './load-sample.ts'

const windowMs = 60_000

function filled(perSecond: number, seconds: number): LoadSample {
  const sample = new LoadSample()
  const random = seededRandom(3)
  for (let i = 0; i < perSecond * seconds; i++) sample.add(String(i % 7), (i / perSecond) * 1000, 1, random, windowMs)
  return sample
}

test.each([1, 10, 1_000])('at %d operations a second the weights of a window add up to its load', (perSecond) => {
  const recent = filled(perSecond, 200).since(200_000 - windowMs)
  const weight = recent.reduce((sum, each) => sum + each.weight, 0)
  expect(weight / (perSecond * 60)).toBeGreaterThan(0.75)
  expect(weight / (perSecond * 60)).toBeLessThan(1.25)
  expect(recent.length).toBeGreaterThanOrEqual(60)
  expect(recent.length).toBeLessThanOrEqual(256)
})

test('what comes in periods is sampled evenly', () => {
  const byKey = new Map<string, number>()
  for (const { rowKey, weight } of filled(1_000, 200).since(0)) byKey.set(rowKey, (byKey.get(rowKey) ?? 0) + weight)
  const weights = [...byKey.values()]
  expect(weights).toHaveLength(7)
  expect(Math.max(...weights) / Math.min(...weights)).toBeLessThan(3)
})

test('a sample is in the order of time and within the window', () => {
  const times = filled(50, 100)
    .since(60_000)
    .map(({ atMs }) => atMs)
  expect(times).toEqual([...times].sort((a, b) => a - b))
  expect(times[0]).toBeGreaterThanOrEqual(60_000)
})
