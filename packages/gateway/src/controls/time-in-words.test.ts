import { expect, test } from 'vitest'
import { timeInWords } from './time-in-words.ts'

test('an amount of time is told in its largest unit and the one below', () => {
  const amounts = [
    0, 0.4, 250, 1000, 1550, 59_999, 60_000, 90_000, 5_400_000, 86_399_999, 86_400_000, 98_073_063_450.064,
  ]
  expect(amounts.map(timeInWords)).toEqual([
    ...[
      '0 ms',
      '0 ms',
      '250 ms',
      '1 s',
      '1.5 s',
      '59.9 s',
      '1 min',
      '1 min 30 s',
      '1 h 30 min',
      '23 h 59 min',
      '1 day',
    ],
    '1,135 days 2 h',
  ])
})
