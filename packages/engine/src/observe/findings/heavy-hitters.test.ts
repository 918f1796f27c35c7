import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HeavyHitters } from './heavy-hitters.ts'

const name = fc.integer({ min: 0, max: 30 }).map((n) => `k${n}`)
/** The number of events that one stands for. */
const weight = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 200 }))

test('frequent names are there, and counts are right within their error', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, weight), { minLength: 1, maxLength: 400 }), (events) => {
      const hitters = new HeavyHitters(8)
      const counts = new Map<string, number>()
      for (const [event, count] of events) {
        hitters.add(event, count)
        counts.set(event, (counts.get(event) ?? 0) + count)
      }
      expect(hitters.events).toBe(events.length)
      const top = hitters.top(8)
      for (const [name, count] of counts) {
        if (count > hitters.total / 8) expect(top.map((one) => one.name)).toContain(name)
      }
      for (const { name, count, error } of top) {
        const truth = counts.get(name) ?? 0
        expect(truth).toBeLessThanOrEqual(count)
        expect(truth).toBeGreaterThanOrEqual(count - error)
      }
    }),
  )
})
