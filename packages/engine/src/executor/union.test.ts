import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ListedStream, positionsOf } from '../../test/support/listed-stream.ts'
import { Union } from './union.ts'

const list = fc.uniqueArray(fc.integer({ min: 10, max: 60 }).map(String), { maxLength: 30 }).map((all) => all.sort())
const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 })

function ordered(positions: readonly string[], reverse: boolean): readonly string[] {
  return reverse ? [...positions].reverse() : positions
}

test('gives each position that some input has, once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(list, { minLength: 1, maxLength: 4 }),
      sizes,
      fc.boolean(),
      fc.boolean(),
      async (lists, batches, reverse, late) => {
        const inputs = lists.map((one) => new ListedStream(ordered(one, reverse), { late, reverse }))
        const wanted = [...new Set(lists.flat())].sort()
        expect(await positionsOf(new Union(inputs, reverse), batches)).toEqual(ordered(wanted, reverse))
      },
    ),
  )
})

test('reads of each input a few rows more than it gives', async () => {
  const rows = (from: number) => Array.from({ length: 1000 }, (_, i) => String(from + 2 * i))
  const inputs = [new ListedStream(rows(10_000)), new ListedStream(rows(10_001))]
  const union = new Union(inputs, false)
  expect(await union.next(3)).toHaveLength(3)
  for (const { read } of inputs) expect(read).toBeLessThanOrEqual(4)
  union.close()
  expect(inputs.every(({ closed }) => closed)).toBe(true)
})

test('after a seek gives what lies at or behind it', async () => {
  const union = new Union([new ListedStream(['1', '4', '7']), new ListedStream(['2', '4', '8'])], false)
  union.seek('4')
  expect(await positionsOf(union, [2])).toEqual(['4', '7', '8'])
})
