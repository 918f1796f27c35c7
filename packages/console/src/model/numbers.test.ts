import { expect, test } from 'vitest'
import { bytesInWords, durationInWords, inWords } from './numbers.ts'

test('numbers have three digits, counts below 100,000 all of them', () => {
  expect([12_345, 123_456, 0.012_345].map(inWords)).toEqual(['12,345', '123,000', '0.0123'])
})

test('sizes and times have the unit that fits', () => {
  expect([0, 1023, 1024, 5_500_000].map(bytesInWords)).toEqual(['0 bytes', '1023 bytes', '1 KiB', '5.25 MiB'])
  expect([0.4217, 999, 1500].map(durationInWords)).toEqual(['0.422 ms', '999 ms', '1.5 s'])
})
