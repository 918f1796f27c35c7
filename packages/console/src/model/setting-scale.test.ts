import { expect, test } from 'vitest'
import { placeOf, valueAt } from './setting-scale.ts'

test('a slider has the own value in the middle, and reaches both bounds', () => {
  for (const setting of [
    { value: 500, least: 1, most: 50_000 },
    { value: 0.05, least: 0, most: 1 },
    { value: 4, least: 1, most: 400 },
  ]) {
    const { value, least, most } = setting
    expect([0, 50, 100].map((place) => valueAt(setting, place))).toEqual([least, value, most])
    expect([least, value, most, most * 2].map((one) => placeOf(setting, one))).toEqual([0, 50, 100, 100])
  }
  expect(valueAt({ value: 4, least: 1, most: 400 }, 30)).toBe(1)
  expect(valueAt({ value: 0, least: 0, most: 10 }, 50)).toBe(5)
})
