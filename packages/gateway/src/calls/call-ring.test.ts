import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CallRing } from './call-ring.ts'

const sizes = fc.tuple(
  fc.integer({ min: 0, max: 40 }),
  fc.integer({ min: 0, max: 40 }),
  fc.integer({ min: 0, max: 40 }),
)

test('the newest records are there, whole and in order, whatever their sizes', () => {
  fc.assert(
    fc.property(fc.array(sizes, { maxLength: 80 }), (all) => {
      const ring = new CallRing(200, 7)
      const added = all.map(([text, request, answer], i) => {
        const record = {
          text: 'é'.repeat(text),
          request: Buffer.alloc(request, i),
          answer: Buffer.alloc(answer, i + 1),
        }
        expect(ring.add(record.text, record.request, record.answer)).toBe(true)
        return record
      })
      expect(ring.count).toBeLessThanOrEqual(7)
      expect(ring.count).toBeGreaterThanOrEqual(Math.min(1, all.length))
      const kept = Array.from({ length: ring.count }, (_, i) => ring.recordAt(i))
      expect(kept).toEqual(added.slice(added.length - ring.count))
    }),
  )
})

test('small records are all kept up to their number, and what is larger than the block is refused', () => {
  const ring = new CallRing(1000, 5)
  for (let i = 0; i < 12; i++) ring.add(String(i))
  expect(Array.from({ length: ring.count }, (_, i) => ring.textAt(i))).toEqual(['7', '8', '9', '10', '11'])
  expect(ring.add('x', new Uint8Array(1000))).toBe(false)
  expect(ring.count).toBe(5)
  ring.clear()
  expect(ring.count).toBe(0)
})
