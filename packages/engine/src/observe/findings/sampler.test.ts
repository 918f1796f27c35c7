import { expect, it } from 'vitest'
import { seededRandom } from '../../random.ts'
import { Sampler } from './sampler.ts'

const options = { exactly: 100, exactlyPerSecond: 10, every: 16 }

/** Sends calls of some items each, at one moment. @returns the picks of each */
function picksOf(sampler: Sampler, calls: number, items: number, nowMs = 0): number[][] {
  return Array.from({ length: calls }, () => {
    if (sampler.passes(items, nowMs)) return []
    return Array.from({ length: items }, () => sampler.pick()).filter((standsFor) => standsFor > 0)
  })
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

it('picks all items while the budget lasts, then some that stand for the others, in calls of any size', () => {
  for (const items of [1, 25, 500]) {
    const sampler = new Sampler(options, seededRandom(1))
    const picks = picksOf(sampler, 10_000 / items, items).flat()
    expect(picks.slice(0, 100)).toEqual(new Array(100).fill(1))
    expect(picks.length).toBeGreaterThan(100 + 9_900 / 20)
    expect(picks.length).toBeLessThan(100 + 9_900 / 13)
    expect(sum(picks)).toBeGreaterThan(10_000 - 2 * options.every)
    expect(sum(picks)).toBeLessThanOrEqual(10_000)
  }
})

it('weighs items alike, whatever calls they come with', () => {
  const sampler = new Sampler(options, seededRandom(1))
  let ofLarge = 0
  let ofSmall = 0
  for (let i = 0; i < 100; i++) {
    ofLarge += sum(picksOf(sampler, 1, 500).flat())
    ofSmall += sum(picksOf(sampler, 500, 1).flat())
  }
  expect(Math.abs(ofLarge / 50_000 - 1)).toBeLessThan(0.02)
  expect(Math.abs(ofSmall / 50_000 - 1)).toBeLessThan(0.02)
})

it('picks the first item after a rest, which stands for those that were passed over', () => {
  const sampler = new Sampler(options, seededRandom(1))
  const before = sum(picksOf(sampler, 1_000, 1).flat())
  const [[first = 0] = [], ...others] = picksOf(sampler, 5, 1, 1_000)
  expect(before + first).toBe(1_001)
  expect(others).toEqual([[1], [1], [1], [1]])
})
