import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ListedStream, positionsOf } from '../../test/support/listed-stream.ts'
import { valueCode } from '../encoding/value-codec.ts'
import type { Column } from '../planner/normal-query.ts'
import { Distinct } from './distinct.ts'

const column: Column = { property: 'n', direction: 'ascending', inverted: false }
const plan = { columns: [column, column] }
const codeOf = (n: number): string => valueCode({ type: 'integer', value: BigInt(n) })
const positionOf = ([a, b]: readonly [number, number]): string => codeOf(a) + codeOf(b)

test('gives the first row of each combination of the first columns', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 20 })), {
        maxLength: 80,
        selector: String,
      }),
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      fc.boolean(),
      async (rows, sizes, reverse, late) => {
        const sorted = rows.map(positionOf).sort()
        const positions = reverse ? sorted.reverse() : sorted
        const distinct = new Distinct(new ListedStream(positions, { late, reverse }), { ...plan, reverse }, 1)
        const seen = new Set<string>()
        const wanted = positions.filter((position) => {
          const group = position.slice(0, codeOf(0).length)
          return !seen.has(group) && seen.add(group)
        })
        expect(await positionsOf(distinct, sizes)).toEqual(wanted)
      },
    ),
  )
})

test('seeks over the rest of a long combination', async () => {
  const rows = Array.from({ length: 5000 }, (_, i) => positionOf([Math.floor(i / 1000), i]))
  const input = new ListedStream(rows)
  expect(await positionsOf(new Distinct(input, { ...plan, reverse: false }, 1), [10])).toHaveLength(5)
  expect(input.read).toBeLessThan(100)
})
