import { expect, test } from 'vitest'
import { MovableClock } from './movable-clock.ts'
import { StandingClock } from './standing-clock.ts'
import { VirtualClock } from './testing/virtual-clock.ts'

test('stands while time passes, and moves by sleeps that end', async () => {
  const timers = new VirtualClock()
  const clock = new StandingClock(5_000_000n, timers)
  await timers.advance(1000)
  expect(clock.nowMicros()).toBe(5_000_000n)
  const slept = Promise.all([clock.sleep(30), clock.sleep(10)])
  await timers.advance(10)
  expect(clock.nowMicros()).toBe(5_010_000n)
  await timers.advance(20)
  await slept
  expect(clock.nowMicros()).toBe(5_030_000n)
})

test('a sleep that is given up moves nothing', async () => {
  const clock = new StandingClock(0n, new VirtualClock())
  const stop = new AbortController()
  const slept = clock.sleep(1000, stop.signal)
  stop.abort(new Error('stop'))
  await expect(slept).rejects.toThrow('stop')
  expect(clock.nowMicros()).toBe(0n)
})

test('below a movable clock it is moved on, and sleepers wake there', async () => {
  const timers = new VirtualClock()
  const clock = new MovableClock(new StandingClock(0n, timers))
  let woken = 0
  void clock.sleep(1000).then(() => woken++)
  void clock.sleep(5000).then(() => woken++)
  clock.advance(1000)
  expect(clock.nowMicros()).toBe(1_000_000n)
  await timers.advance(4000)
  expect({ woken, now: clock.nowMicros() }).toEqual({ woken: 2, now: 5_000_000n })
})
