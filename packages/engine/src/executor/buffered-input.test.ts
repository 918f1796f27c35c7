import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ListedStream } from '../../test/support/listed-stream.ts'
import { isPromise } from '../maybe-promise.ts'
import { BufferedInput, fillAll } from './buffered-input.ts'

const list = fc.uniqueArray(fc.integer({ min: 100, max: 300 }).map(String), { maxLength: 80 }).map((all) => all.sort())

test('stands at the first row at or behind each target, or knows the end', async () => {
  await fc.assert(
    fc.asyncProperty(list, list, fc.boolean(), async (rows, targets, late) => {
      const input = new BufferedInput(new ListedStream(rows, { late }), false, 2)
      for (const target of targets) {
        await input.advanceTo(target)
        const wanted = rows.find((row) => row >= target)
        expect(input.current?.position).toBe(wanted)
        expect(input.ended).toBe(wanted === undefined)
      }
    }),
  )
})

test('reads on where the next targets are near, and seeks where they are far', async () => {
  const rows = Array.from({ length: 2000 }, (_, i) => String(10_000 + i))
  const near = new ListedStream(rows)
  const nearInput = new BufferedInput(near, false, 2)
  for (let i = 0; i < 2000; i += 2) await nearInput.advanceTo(String(10_000 + i))
  expect(near.seeks).toBeLessThan(5)
  const far = new ListedStream(rows)
  const farInput = new BufferedInput(far, false, 2)
  for (let i = 0; i < 2000; i += 400) await farInput.advanceTo(String(10_000 + i))
  expect(far.read).toBeLessThan(40)
})

test('inputs are filled side by side; nothing is waited for where all answer at once', async () => {
  const ready = [new BufferedInput(new ListedStream(['1']), false, 2)]
  expect(isPromise(fillAll(ready))).toBe(false)
  const late = [new ListedStream(['1'], { late: true }), new ListedStream([], { late: true })]
  const inputs = late.map((stream) => new BufferedInput(stream, false, 2))
  await fillAll(inputs)
  expect(inputs.map(({ current }) => current?.position)).toEqual(['1', undefined])
  expect(inputs.map(({ ended }) => ended)).toEqual([false, true])
})
