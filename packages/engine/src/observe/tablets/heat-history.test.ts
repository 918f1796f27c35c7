import { describe, expect, it } from 'vitest'
import { HeatHistory } from './heat-history.ts'

/** 2026: times of a real clock, far from 0. */
const startMs = 1_767_225_600_000

/** The same number of operations for each of 16 rows `prefix` + 00 … 15. */
function load(heat: HeatHistory, nowMs: number, prefix: string, each: number): void {
  for (let i = 0; i < 16; i++) heat.add('Entities', `${prefix}${String(i).padStart(2, '0')}`, nowMs, each, 0, 0)
}

const startsOf = (heat: HeatHistory): string[] => heat.cells('Entities', 3, 0, 1, 64).map(({ start }) => start)

describe('the heat history', () => {
  it('joins the neighbours with the fewest operations to make room', () => {
    const heat = new HeatHistory(4)
    load(heat, startMs, 'a', 1)
    heat.adapt(startMs)
    load(heat, startMs, 'm', 10)
    heat.adapt(startMs)
    load(heat, startMs, 'z', 1000)
    heat.adapt(startMs)
    expect(startsOf(heat)).toEqual(['', 'a08', 'm08', 'z08'])
    load(heat, startMs, 'zz', 2000)
    heat.adapt(startMs)
    // The rows of a are the coldest: nothing divides them any more.
    expect(startsOf(heat)).toEqual(['', 'm08', 'z08', 'zz08'])
  })
})
