import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ListedStream, positionsOf } from '../../test/support/listed-stream.ts'
import { valueCode } from '../encoding/value-codec.ts'
import type { Column } from '../planner/normal-query.ts'
import { spansOf } from '../planner/spans.ts'
import { Filter } from './filter.ts'

const column: Column = { property: 'n', direction: 'ascending', inverted: false }
const codeOf = (n: number): string => valueCode({ type: 'integer', value: BigInt(n) })

/** Two columns and a text that stands for the path. */
const row = fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 }), fc.constantFrom('a', 'b', 'c'))

test('keeps the rows whose columns and paths are allowed, for any batch sizes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 60 }),
      fc.integer({ min: 0, max: 9 }),
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      async (rows, least, sizes, late) => {
        const codes = rows.map(([a, b, path]) => codeOf(a) + codeOf(b) + path)
        const filter = new Filter(
          new ListedStream(codes, { late }),
          { columns: [column, column], reverse: false },
          {
            type: 'filter',
            input: { type: 'empty' },
            columnSpans: [undefined, spansOf('greaterThanOrEqual', codeOf(least), false)],
            pathSpans: [{ lower: 'a', upper: 'c' }],
          },
        )
        const wanted = codes.filter((_, i) => (rows[i]?.[1] ?? 0) >= least && rows[i]?.[2] !== 'c')
        expect(await positionsOf(filter, sizes)).toEqual(wanted)
      },
    ),
  )
})

test('looks at more rows at a time while none fits, and passes seek and close on', async () => {
  const codes = [...Array.from({ length: 999 }, () => codeOf(1)), codeOf(2)].map((code, i) => code + String(1000 + i))
  const input = new ListedStream(codes)
  const filter = new Filter(
    input,
    { columns: [column], reverse: false },
    {
      type: 'filter',
      input: { type: 'empty' },
      columnSpans: [spansOf('equal', codeOf(2), false)],
      pathSpans: undefined,
    },
  )
  let calls = 0
  const next = input.next.bind(input)
  input.next = (count) => {
    calls++
    return next(count)
  }
  expect(await filter.next(1)).toHaveLength(1)
  expect(calls).toBeLessThan(15)
  filter.seek(codeOf(3))
  expect(input.seeks).toBe(1)
  filter.close()
  expect(input.closed).toBe(true)
})

test('rows that were read beyond what was asked for are given next, but for those before a seek', async () => {
  const codes = Array.from({ length: 64 }, (_, i) => codeOf(i < 8 ? 1 : 2) + String(100 + i))
  const node = { type: 'filter', input: { type: 'empty' }, pathSpans: undefined } as const
  const filter = new Filter(
    new ListedStream(codes),
    { columns: [column], reverse: false },
    { ...node, columnSpans: [spansOf('equal', codeOf(2), false)] },
  )
  expect((await filter.next(1)).map(({ position }) => position)).toEqual([codes[8]])
  expect((await filter.next(1)).map(({ position }) => position)).toEqual([codes[9]])
  filter.seek(codes[12] ?? '')
  expect(await positionsOf(filter, [5])).toEqual(codes.slice(12))
})
