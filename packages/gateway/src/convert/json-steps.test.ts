import { turnScheduler } from '@sixtables/engine/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Call } from '../call.ts'
import { charsOf, jsonSteps, reportBody, stepChars } from './json-steps.ts'

const mostChars = 200_000

/** So often at most that the list stays short, also in a list in a list. */
const timesOf = (value: unknown, count: number): number =>
  Math.min(count, Math.floor(mostChars / charsOf(value, mostChars)))

/** Values with some long parts, like those of reports. */
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom(null, true, -0, 1.5, undefined),
    fc.string({ unit: 'binary' }),
    fc
      .tuple(fc.string({ unit: 'binary', minLength: 1 }), fc.nat({ max: 40_000 }))
      .map(([text, times]) => text.repeat(times % 9_000)),
    fc.array(tie('value'), { maxLength: 6 }),
    fc.dictionary(fc.string(), tie('value'), { maxKeys: 6 }),
    fc
      .tuple(tie('value'), fc.nat({ max: 3_000 }))
      .map(([value, count]) => Array(timesOf(value, count)).fill(value === undefined ? 0 : value)),
  ),
})).value

test('the steps together are the text of JSON.stringify', () => {
  fc.assert(
    fc.property(values, (value) => {
      const whole = [value]
      expect([...jsonSteps(whole)].join('') === JSON.stringify(whole)).toBe(true)
    }),
    { numRuns: 60 },
  )
})

test('a long object without any member is empty', () => {
  const absent = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`name ${i}`, undefined]))
  expect([...jsonSteps([absent])].join('')).toBe('[{}]')
})

test('no step prints much more than its share, whatever is long', () => {
  const megabyte = 'é😀'.repeat(350_000)
  const rows = Array.from({ length: 5_000 }, (_, i) => ({ row: `r${i}`, value: i, cells: [[1, 2], [3]] }))
  const report = {
    table: 'a',
    rows: [...rows, { row: 'long', value: megabyte }],
    byName: Object.fromEntries(rows.map((row) => [row.row, row])),
    none: undefined,
  }
  const steps = [...jsonSteps(report)]
  expect(steps.join('') === JSON.stringify(report)).toBe(true)
  expect(Math.max(...steps.map(({ length }) => length))).toBeLessThan(2 * stepChars)
})

test('a long report is printed in turns, and no further when its client is gone', async () => {
  let turns = 0
  let gone = Number.POSITIVE_INFINITY
  const call: Call = new Call({
    clock: turnScheduler(() => {
      if (++turns === gone) call.cancel()
    }),
  })
  const report = { values: Array(30).fill('x'.repeat(100_000)) }
  const body = await reportBody(call, report)
  expect(Buffer.concat(body as readonly Buffer[]).toString() === `${JSON.stringify(report)}\n`).toBe(true)
  expect(turns).toBeGreaterThanOrEqual(10)
  gone = turns + 2
  await expect(reportBody(call, report)).rejects.toMatchObject({ code: 'CANCELLED' })
  expect(turns).toBe(gone)
})
