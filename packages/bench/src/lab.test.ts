import { expect, it } from 'vitest'
import { inWords, numbersInWords } from './lab.ts'

it.each([
  [9960.94, '9,960'],
  [0.141, '0.141'],
  [99.41264, '99.4'],
  [16_897, '16,897'],
  [738_946, '739,000'],
  [0, '0'],
])('%d is %s in words', (value, words) => {
  expect(inWords(value)).toBe(words)
})

it('numbers within words have three digits, and names keep theirs', () => {
  const words = '9960.94 a second served, 40039.1 refused; 16,897 rows of Customer1000000, 1.0 times, u571/2000 in 5:30'
  expect(numbersInWords(words)).toBe(
    '9,960 a second served, 40,000 refused; 16,897 rows of Customer1000000, 1 times, u571/2000 in 5:30',
  )
})
