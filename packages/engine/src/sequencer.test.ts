import { expect, test } from 'vitest'
import { Sequencer } from './sequencer.ts'

test('turns are taken in the order of the calls, whether one fails or not', async () => {
  const turns = new Sequencer()
  const done: number[] = []
  const calls = [1, 2, 3, 4].map(async (number) => {
    await turns.run(async () => {
      done.push(number)
      await Promise.resolve()
      if (number === 2) throw new Error('of this turn')
    })
  })
  expect((await Promise.allSettled(calls)).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ])
  expect(done).toEqual([1, 2, 3, 4])
  expect(turns.isBusy).toBe(false)
})

test.each([1, 2, 3, 20])('%i wait for the end of all turns at a time', async (count) => {
  const turns = new Sequencer()
  let end = (): void => {}
  const first = turns.run(
    () =>
      new Promise<void>((resolve) => {
        end = resolve
      }),
  )
  let isOver = false
  const all = Promise.all(Array.from({ length: count }, () => turns.idle())).then(() => {
    isOver = true
  })
  const second = turns.run(() => new Promise<void>((resolve) => setImmediate(resolve)))
  end()
  await first
  await Promise.resolve()
  expect(isOver).toBe(false)
  await second
  await all
  expect(turns.isBusy).toBe(false)
})
