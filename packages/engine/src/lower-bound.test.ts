import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lowerBound } from './lower-bound.ts'

test('the first place not before what is looked for is that of a walk from the beginning', () => {
  const sorted = fc.array(fc.integer({ max: 20, min: 0 })).map((numbers) => numbers.sort((a, b) => a - b))
  fc.assert(
    fc.property(sorted, fc.integer({ min: -1, max: 21 }), fc.nat({ max: 5 }), (numbers, asked, from) => {
      const start = Math.min(from, numbers.length)
      const found = numbers.findIndex((number, place) => place >= start && number >= asked)
      const place = lowerBound(numbers.length, (at) => (numbers[at] as number) < asked, start)
      expect(place).toBe(found < 0 ? numbers.length : found)
    }),
  )
})
