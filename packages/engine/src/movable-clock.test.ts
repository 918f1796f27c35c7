import { expect, test } from 'vitest'
import { MovableClock } from './movable-clock.ts'
import { VirtualClock } from './testing/virtual-clock.ts'

async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
}

test('advance wakes sleepers that are due, the earliest first, and leaves the others', async () => {
  const clock = new MovableClock(new VirtualClock())
  const woken: number[] = []
  for (const ms of [500, 100, 900, 300]) void clock.sleep(ms).then(() => woken.push(ms))
  clock.advance(500)
  await turn()
  expect(woken).toEqual([100, 300, 500])
})

test('time that passes below counts for a sleeper beside time that was advanced', async () => {
  const base = new VirtualClock()
  const clock = new MovableClock(base)
  const from = clock.nowMicros()
  let woken = false
  void clock.sleep(1000).then(() => {
    woken = true
  })
  clock.advance(600)
  await base.advance(399)
  expect(woken).toBe(false)
  await base.advance(1)
  expect(woken).toBe(true)
  expect(clock.nowMicros() - from).toBe(1_000_000n)
})

test('reset goes back to the time below, and sleepers sleep for what was left', async () => {
  const base = new VirtualClock()
  const clock = new MovableClock(base)
  clock.advance(86_400_000)
  let woken = false
  void clock.sleep(50).then(() => {
    woken = true
  })
  expect(clock.offsetMs).toBe(86_400_000)
  clock.reset()
  expect(clock.nowMicros()).toBe(base.nowMicros())
  await base.advance(49)
  expect(woken).toBe(false)
  await base.advance(1)
  expect(woken).toBe(true)
})

test('a clock below that is set back leaves the remaining time of each sleep as it was', async () => {
  const base = new VirtualClock()
  let setMicros = 0n
  const clock = new MovableClock({
    nowMicros: () => base.nowMicros() + setMicros,
    steadyMs: () => base.steadyMs(),
    defer: (task) => base.defer(task),
    sleep: (ms, signal) => base.sleep(ms, signal),
  })
  let woken = false
  void clock.sleep(50).then(() => {
    woken = true
  })
  setMicros = -3_600_000_000n
  await base.advance(50)
  expect(woken).toBe(true)
})

test('a sleep longer than a timer can hold ends in its time', async () => {
  const base = new VirtualClock()
  const clock = new MovableClock(base)
  const days40 = 40 * 86_400_000
  let woken = false
  void clock.sleep(days40).then(() => {
    woken = true
  })
  await base.advance(days40 - 1)
  expect(woken).toBe(false)
  await base.advance(1)
  expect(woken).toBe(true)
})

test('an aborted sleep rejects with the reason, also one that is aborted before it begins', async () => {
  const clock = new MovableClock(new VirtualClock())
  const stop = new AbortController()
  const asleep = clock.sleep(1000, stop.signal)
  stop.abort(new Error('enough'))
  await expect(asleep).rejects.toThrow('enough')
  await expect(clock.sleep(1, stop.signal)).rejects.toThrow('enough')
  clock.advance(2000)
})

test('what is no forward step is refused', () => {
  const clock = new MovableClock(new VirtualClock())
  for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY]) expect(() => clock.advance(ms)).toThrow('advanced by')
})

test('no clock is advanced to a time that timestamps cannot have', () => {
  const clock = new MovableClock(new VirtualClock())
  const refused = (): void => {
    for (let i = 0; i < 10; i++) clock.advance(1000 * 365 * 86_400_000)
  }
  expect(refused).toThrow('9900-01-01T00:00:00Z at most')
  expect(clock.nowMicros()).toBeLessThan(BigInt(Date.UTC(9900, 0)) * 1000n)
})

test('after end no sleeper wakes, and nothing is left on the clock below', async () => {
  const base = new VirtualClock()
  const clock = new MovableClock(base)
  let woken = false
  void clock.sleep(10).then(() => {
    woken = true
  })
  clock.end()
  await base.advance(1000)
  clock.advance(1000)
  await turn()
  expect(woken).toBe(false)
})

test('a sleep that a caller waits for is told so to the scheduler below, also after the clock was moved', async () => {
  const base = new VirtualClock()
  const told: (boolean | undefined)[] = []
  const clock = new MovableClock({
    nowMicros: () => base.nowMicros(),
    steadyMs: () => base.steadyMs(),
    defer: (task) => base.defer(task),
    sleep: (ms, signal, isAwaited) => {
      told.push(isAwaited)
      return base.sleep(ms, signal)
    },
  })
  void clock.sleep(100)
  void clock.sleep(200, undefined, true)
  clock.advance(1)
  expect(told).toEqual([undefined, true, undefined, true])
})
