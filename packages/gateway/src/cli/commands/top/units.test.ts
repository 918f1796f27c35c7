import { expect, test } from 'vitest'
import { bytes, count, duration, percent, rate, timeOfDay } from './frame.ts'

test('figures are short', () => {
  expect([0, 0.42, 9.96, 17.4, 1234, 9999.4, 56_000, 999_499, 740_000, 7_400_000].map(rate)).toEqual([
    '0',
    '0.4',
    '10',
    '17',
    '1,234',
    '9,999',
    '56k',
    '999k',
    '740k',
    '7.4M',
  ])
  expect([0, 1, 9, 1234, 56_000, 7_400_000].map(count)).toEqual(['0', '1', '9', '1,234', '56k', '7.4M'])
  expect([0, 1023, 1024, 3500, 1024 * 1024 * 120].map(bytes)).toEqual([
    '0 B',
    '1023 B',
    '1.0 KiB',
    '3.4 KiB',
    '120 MiB',
  ])
  expect([0, 0.31, 12.4, 1500, 600_000, 7_200_000].map(duration)).toEqual([
    '0 ms',
    '0.3 ms',
    '12 ms',
    '1.5 s',
    '10 min',
    '2 h',
  ])
  expect(percent(0.936)).toBe('94 %')
  expect(timeOfDay(45_296_000)).toBe('12:34:56')
})
