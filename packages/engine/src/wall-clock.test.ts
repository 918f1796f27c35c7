import { expect, test } from 'vitest'
import { stopwatch } from './clock.ts'
import { WallClock } from './wall-clock.ts'

const hourMs = 3_600_000

/** The clocks of a machine, and the one that is made of them. */
class Machine {
  wallMs = Date.UTC(2026, 0, 1)
  #steadyMs = 0
  readonly #clock = new WallClock(
    () => Math.floor(this.wallMs),
    () => this.#steadyMs,
    this.wallMs,
  )

  run(ms: number): void {
    this.wallMs += ms
    this.#steadyMs += ms
  }

  nowMicros(): bigint {
    return this.#clock.nowMicros()
  }

  steadyMs(): number {
    return this.#steadyMs
  }

  /** How far the clock is ahead of the wall clock, in seconds. */
  ahead(): bigint {
    return (this.nowMicros() - BigInt(Math.floor(this.wallMs * 1000))) / 1_000_000n
  }
}

test('wall-clock/WC1: it tells parts of a millisecond, and follows the wall clock over a suspension', () => {
  const machine = new Machine()
  const before = machine.nowMicros()
  machine.run(0.25)
  expect(machine.nowMicros() - before).toBe(250n)
  const passed = stopwatch(machine)
  machine.wallMs += 3 * hourMs
  machine.run(10)
  expect(machine.ahead()).toBe(0n)
  expect(passed() / 1_000_000n).toBe(10_800n)
})

test('wall-clock/WC2: where the wall clock is set back, it goes on at half its speed until that has caught up', () => {
  const machine = new Machine()
  const passed = stopwatch(machine)
  let last = machine.nowMicros()
  machine.wallMs -= hourMs
  expect(machine.ahead()).toBe(3600n)
  const run = (ms: number, times: number): void => {
    for (let n = 0; n < times; n++) {
      machine.run(ms)
      const now = machine.nowMicros()
      if (now < last) throw new Error(`${now} comes after ${last}`)
      last = now
    }
  }
  run(0.0007, 10_000)
  run(1000, 3599)
  expect(machine.ahead()).toBe(1800n)
  expect(passed() / 1_000_000n).toBe(3599n)
  run(60_000, 61)
  expect(machine.ahead()).toBe(0n)
})
