import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ListedStream, positionsOf } from '../../test/support/listed-stream.ts'
import { MergeJoin } from './merge-join.ts'

const list = fc.uniqueArray(fc.integer({ min: 10, max: 60 }).map(String), { maxLength: 40 }).map((all) => all.sort())
const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 })

function ordered(positions: readonly string[], reverse: boolean): readonly string[] {
  return reverse ? [...positions].reverse() : positions
}

test('gives the positions that all inputs have, in order, for any batch sizes, at once and by promise', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(list, { minLength: 2, maxLength: 4 }),
      sizes,
      fc.boolean(),
      fc.boolean(),
      async (lists, batches, reverse, late) => {
        const inputs = lists.map((one) => new ListedStream(ordered(one, reverse), { late, reverse }))
        const [first = []] = lists
        const wanted = first.filter((position) => lists.every((one) => one.includes(position)))
        expect(await positionsOf(new MergeJoin(inputs, reverse), batches)).toEqual(ordered(wanted, reverse))
      },
    ),
  )
})

test('after a seek gives what lies at or behind it', async () => {
  await fc.assert(
    fc.asyncProperty(list, list, fc.integer({ min: 10, max: 60 }).map(String), async (a, b, target) => {
      const join = new MergeJoin([new ListedStream(a), new ListedStream(b)], false)
      join.seek(target)
      expect(await positionsOf(join, [2])).toEqual(a.filter((one) => b.includes(one) && one >= target))
    }),
  )
})

test('seeks over what the other input does not have, instead of reading it', async () => {
  const long = Array.from({ length: 10_000 }, (_, i) => String(100_000 + i))
  const [many, few] = [new ListedStream(long), new ListedStream(['104000', '108000'])]
  expect(await positionsOf(new MergeJoin([many, few], false), [10])).toEqual(['104000', '108000'])
  expect(many.read).toBeLessThan(40)
})

test('ends with the shortest input, and closes all of them', async () => {
  const inputs = [new ListedStream(['1', '2', '3']), new ListedStream([])]
  const join = new MergeJoin(inputs, false)
  expect(await positionsOf(join, [5])).toEqual([])
  expect(await join.next(5)).toEqual([])
  join.close()
  expect(inputs.map(({ closed }) => closed)).toEqual([true, true])
})
