import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Tombstones } from './tombstones.ts'

const key = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 })

test('a range has the deleted rows in it that were not put again, wherever tablets are cut and joined', () => {
  const step = fc.record({
    type: fc.constantFrom('add' as const, 'add' as const, 'drop' as const, 'cut' as const),
    key,
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), key, key, (steps, from, through) => {
      let tombstones = new Tombstones()
      const model = new Set<string>()
      for (const one of steps) {
        if (one.type === 'add') {
          tombstones.add(one.key, 2, 5)
          model.add(one.key)
        } else if (one.type === 'drop') {
          tombstones.drop(one.key)
          model.delete(one.key)
        } else {
          const right = tombstones.cut(one.key)
          expect(right.count).toBe(2 * [...model].filter((each) => each >= one.key).length)
          const joined = new Tombstones()
          joined.append(tombstones)
          joined.append(right)
          tombstones = joined
        }
      }
      expect(tombstones.count).toBe(2 * model.size)
      const within = [...model].filter((each) => each >= from && each <= through)
      expect(tombstones.between(from, through)).toBe(2 * within.length)
      expect(tombstones.clear()).toBe(2 * model.size)
      expect(tombstones.between('', '\xff')).toBe(0)
    }),
  )
})

test('beyond a bound neighbours are joined, and none is lost', () => {
  const tombstones = new Tombstones()
  for (let i = 0; i < 10_000; i++) tombstones.add(String(i).padStart(5, '0'), 1, i)
  expect(tombstones.count).toBe(10_000)
  const half = tombstones.between('00000', '04999')
  expect(half).toBeGreaterThan(4_950)
  expect(half).toBeLessThan(5_050)
  expect(tombstones.oldestMs).toBe(0)
})
