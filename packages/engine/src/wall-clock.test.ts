import { expect, test } from 'vitest'
import { stopwatch } from './clock.ts'
import { wallClock } from './wall-clock.ts'

const hourMs = 3_600_000

/** The clocks of a machine, and the one that is made of them. */
class Machine {
  wallMs = Date.UTC(2026, 0, 1)
  #steadyMs = 0
  readonly nowMicros = wallClock(
    () => Math.floor(this.wallMs),
    () => this.#steadyMs,
    this.wallMs,
  )

  run(ms: number): void {
    this.wallMs += ms
    this.#steadyMs += ms
  }

  steadyMs(): number {
    return this.#steadyMs
  }

  /** How far the clock is ahead of the wall clock, in seconds. */
  ahead(): bigint {
    return (this.nowMicros() - BigInt(Math.floor(this.wallMs * 1000))) / 1_000_000n
  }
}

test('it tells parts of a millisecond, and follows the wall clock over a suspension', () => {
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

test('where the wall clock is set back it is followed at once, and what takes time still comes to its end', () => {
  const machine = new Machine()
  machine.wallMs += hourMs
  machine.run(1000)
  expect(machine.ahead()).toBe(0n)
  const passed = stopwatch(machine)
  machine.wallMs -= hourMs
  machine.run(1000)
  expect(machine.ahead()).toBe(0n)
  expect(passed()).toBe(1_000_000n)
})
