import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Areas, areaTableKey } from './areas.ts'
import type { KeyRange } from './kv.ts'

const key = fc.string({ unit: fc.constantFrom('a', 'b', '\x00', '\xff'), maxLength: 4 })
const range: fc.Arbitrary<KeyRange> = fc.tuple(key, key).map(([start, end]) => ({ start, end }))
const moves = fc.array(fc.array(range, { maxLength: 3 }), { maxLength: 5 })
const isIn = (key: string, ranges: readonly KeyRange[]): boolean =>
  ranges.some(({ start, end }) => start <= key && key < end)

const afterMoves = (all: readonly (readonly KeyRange[])[]): Areas =>
  all.reduce((areas, ranges) => areas.moved(ranges), new Areas())

describe('areas', () => {
  test('a key that moves is at a new place, and what it left is left over; others stay', () => {
    fc.assert(
      fc.property(moves, fc.array(range, { maxLength: 3 }), key, (before, ranges, each) => {
        const areas = afterMoves(before)
        const moved = areas.moved(ranges)
        expect(moved.place(each) !== areas.place(each)).toBe(isIn(each, ranges))
        expect(isIn(areas.place(each), moved.leftover)).toBe(isIn(each, ranges))
        expect(isIn(moved.place(each), moved.leftover)).toBe(false)
      }),
    )
  })

  test('the parts of a range follow each other and are where their keys are', () => {
    fc.assert(
      fc.property(moves, range, key, (all, asked, each) => {
        const areas = afterMoves(all)
        const parts = areas.parts(asked)
        expect(parts.every(({ start, end }, i) => start < end && start === (parts[i - 1]?.end ?? asked.start))).toBe(
          true,
        )
        const part = parts.find(({ start, end }) => start <= each && each < end)
        expect(part !== undefined).toBe(isIn(each, [asked]))
        if (part !== undefined) expect(part.prefix + each).toBe(areas.place(each))
      }),
    )
  })

  test('ranges come home to what has been cleaned, whatever their parts, and then the table has no line', () => {
    fc.assert(
      fc.property(moves, fc.array(range, { maxLength: 3 }), fc.nat(9), key, (before, ranges, late, each) => {
        let areas = afterMoves(before)
        let steps = 0
        for (let { stray } = areas; stray !== undefined || areas.leftover.length > 0; { stray } = areas) {
          const [left] = areas.leftover
          if (steps++ === late) areas = areas.moved(ranges)
          else if (stray !== undefined) {
            const middle = `${stray.start}\x00`
            expect(areas.place(stray.start)).toBe(stray.prefix + stray.start)
            expect(areas.leftover.some(({ start, end }) => start < stray.end && stray.start < end)).toBe(false)
            areas = areas.broughtHome({
              start: stray.start,
              end: steps % 2 > 0 && middle < stray.end ? middle : stray.end,
            })
            expect(areas.place(stray.start)).toBe(stray.start)
          } else if (left !== undefined) areas = areas.cleaned(left)
        }
        expect(areas.place(each)).toBe(each)
        expect(areas.parts({ start: '', end: 'z' })).toHaveLength(1)
      }),
    )
  })

  test('its table is read back as it was, and is no part of any range', () => {
    fc.assert(
      fc.property(moves, (all) => {
        const areas = afterMoves(all)
        expect(Areas.from(areas.row.value)).toEqual(areas)
        expect(areas.stored([{ start: '', end: '\xff'.repeat(20) }])).toSatisfy(
          (every: KeyRange[]) => !isIn(areaTableKey, every),
        )
        for (const left of areas.leftover) expect(areas.cleaned(left).leftover).not.toContainEqual(left)
      }),
    )
  })
})
