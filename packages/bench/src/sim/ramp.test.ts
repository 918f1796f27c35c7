import { describe, expect, it } from 'vitest'
import { rampedOpsPerSecond, rampedShare } from './ramp.ts'

describe('500/50/5', () => {
  const rule = { startOpsPerSecond: 500, growthPercent: 50, everyMinutes: 5 }

  it('stays for five minutes, then has half as much more', () => {
    expect([0, 299, 300, 600].map((seconds) => rampedOpsPerSecond(rule, seconds))).toEqual([500, 500, 750, 1125])
  })

  it('is at about 740,000 after 90 minutes', () => {
    expect(rampedOpsPerSecond(rule, 90 * 60)).toBeCloseTo(738_945, -1)
  })

  it('grows in as many steps in any time', () => {
    expect(rampedShare(50, 0) * 738_945).toBeCloseTo(500, 0)
    expect(rampedShare(50, 0.5)).toBeCloseTo(1.5 ** -9)
    expect([rampedShare(50, 1), rampedShare(100, 1), rampedShare(200, 1)]).toEqual([1, 1, 1])
  })
})
