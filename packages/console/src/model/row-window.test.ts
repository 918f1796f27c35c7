import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rowWindow, scrollTopFor } from './row-window.ts'

const viewports = fc.record({
  count: fc.oneof(fc.nat(100), fc.nat(3_000_000)),
  rowHeight: fc.integer({ min: 20, max: 60 }),
  height: fc.integer({ min: 60, max: 2000 }),
  scrollTop: fc.nat(12_000_000),
})

test('the rows in sight cover the viewport', () => {
  fc.assert(
    fc.property(viewports, (viewport) => {
      const { first, last, top, contentHeight } = rowWindow(viewport)
      const scrollTop = Math.max(0, Math.min(viewport.scrollTop, contentHeight - viewport.height))
      expect(first).toBeGreaterThanOrEqual(0)
      expect(last).toBeLessThan(viewport.count)
      expect(top).toBeLessThanOrEqual(scrollTop + 0.01)
      const bottom = top + (last - first + 1) * viewport.rowHeight
      expect(bottom).toBeGreaterThanOrEqual(Math.min(scrollTop + viewport.height, contentHeight) - 0.01)
    }),
  )
})

test('a row that was scrolled to is in the window', () => {
  fc.assert(
    fc.property(viewports, fc.double({ min: 0, max: 0.999, noNaN: true }), (viewport, share) => {
      if (viewport.count === 0) return
      const index = Math.floor(share * viewport.count)
      const { first, last } = rowWindow({ ...viewport, scrollTop: scrollTopFor(index, viewport) })
      expect(index).toBeGreaterThanOrEqual(first)
      expect(index).toBeLessThanOrEqual(last)
    }),
  )
})

test('a row in sight needs no scrolling', () => {
  const viewport = { count: 100, rowHeight: 30, height: 300, scrollTop: 90 }
  expect(scrollTopFor(5, viewport)).toBe(90)
  expect(scrollTopFor(2, viewport)).toBe(60)
  expect(scrollTopFor(13, viewport)).toBe(120)
})
