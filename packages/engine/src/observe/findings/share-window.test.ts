import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ShareWindow } from './share-window.ts'

test('it speaks of the last size to 2 × size events', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 200 }), (events) => {
      const window = new ShareWindow(16)
      for (const event of events) window.add(event)
      expect(window.events).toBeLessThanOrEqual(32)
      expect(window.events).toBeGreaterThanOrEqual(Math.min(16, events.length))
      const last = events.slice(events.length - window.events)
      expect(window.hits).toBe(last.filter(Boolean).length)
      expect(window.hitsEver).toBe(events.filter(Boolean).length)
    }),
  )
})

test('without events the share is 0', () => {
  expect(new ShareWindow(4).share).toBe(0)
})
