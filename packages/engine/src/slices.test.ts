import { expect, test } from 'vitest'
import type { Scheduler } from './clock.ts'
import { type RequestContext, requestContext } from './context.ts'
import { giveWay, sliceWorkMax } from './slices.ts'

/** Time that passes as told, and turns that come when told. */
function handClock(): Scheduler & { now: number; turn(): Promise<void>; readonly waiting: number } {
  const tasks: (() => void)[] = []
  return {
    now: 0,
    get waiting() {
      return tasks.length
    },
    nowMicros() {
      return BigInt(this.now * 1000)
    },
    steadyMs() {
      return this.now
    },
    defer: (task) => void tasks.push(task),
    sleep: () => Promise.resolve(),
    async turn() {
      for (const task of tasks.splice(0)) task()
      await settle()
    },
  }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Works step by step until it gives way. @returns how many rows it got through */
function runSlice(context: RequestContext, step: number): { rows: number; way: Promise<void> } {
  for (let rows = step; ; rows += step) {
    const way = giveWay(context, step)
    if (way !== undefined) return { rows, way }
  }
}

test('short work never asks for the time', () => {
  const clock = handClock()
  clock.steadyMs = () => {
    throw new Error('asked')
  }
  const context = requestContext({ clock })
  for (let i = 0; i < 100; i++) expect(giveWay(context, 1)).toBeUndefined()
})

test('while time stands still a slice ends after so many rows, also those that come', async () => {
  const clock = handClock()
  const context = requestContext({ clock })
  for (const step of [1, 100, 1000]) {
    const { rows, way } = runSlice(context, step)
    expect(rows).toBeGreaterThanOrEqual(sliceWorkMax)
    expect(rows).toBeLessThan(sliceWorkMax + Math.max(step, 128) + step)
    await settle()
    await clock.turn()
    await way
  }
})

test('rows that take long end a slice sooner', () => {
  const clock = handClock()
  const context = requestContext({ clock })
  let rows = 0
  while (giveWay(context, 1) === undefined) {
    rows++
    clock.now += 0.02
  }
  expect(rows).toBeLessThan(600)
})

test('of much long work one goes on in each turn, and all get theirs', async () => {
  const clock = handClock()
  const order: string[] = []
  const work = async (name: string): Promise<void> => {
    const context = requestContext({ clock })
    for (let slice = 0; slice < 3; slice++) {
      await runSlice(context, 500).way
      order.push(name)
    }
  }
  const all = Promise.all(['a', 'b', 'c'].map(work))
  await settle()
  for (let turn = 1; turn <= 9; turn++) {
    expect(clock.waiting).toBe(1)
    await clock.turn()
    expect(order).toHaveLength(turn)
  }
  await all
  expect(order.join('')).toBe('abcabcabc')
})

test('work ends when its caller is gone while others have their turn', async () => {
  const clock = handClock()
  const gone = new AbortController()
  const { way } = runSlice(requestContext({ clock, signal: gone.signal }), 500)
  await settle()
  gone.abort()
  const ended = expect(way).rejects.toMatchObject({ code: 'CANCELLED' })
  await clock.turn()
  await ended
})

test('work ends when its time is over', () => {
  const clock = handClock()
  const context = requestContext({ clock, deadlineAt: 1 })
  clock.now = 2
  expect(() => giveWay(context, 500)).toThrow(/deadline/)
})
