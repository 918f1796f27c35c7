import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HeavyHitters } from './heavy-hitters.ts'

test('heavy-hitters/H1, heavy-hitters/H2: frequent names are there, and counts are right within their error', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 400 }), (events) => {
      const hitters = new HeavyHitters(8)
      const counts = new Map<string, number>()
      for (const event of events) {
        hitters.add(`k${event}`)
        counts.set(`k${event}`, (counts.get(`k${event}`) ?? 0) + 1)
      }
      const top = hitters.top(8)
      for (const [name, count] of counts) {
        if (count > events.length / 8) expect(top.map((one) => one.name)).toContain(name)
      }
      for (const { name, count, error } of top) {
        const truth = counts.get(name) ?? 0
        expect(truth).toBeLessThanOrEqual(count)
        expect(truth).toBeGreaterThanOrEqual(count - error)
      }
    }),
  )
})
