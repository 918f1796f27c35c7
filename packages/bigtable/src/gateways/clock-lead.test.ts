import { type Scheduler, seededRandom } from '@sixtables/engine'
import { VirtualClock } from '@sixtables/engine/testing'
import { expect, test } from 'vitest'
import { MemoryRows } from '../row-store/memory-rows.ts'
import { RowsKv } from '../row-store/rows-kv.ts'
import { ClockLead } from './clock-lead.ts'
import { ClockRow } from './clock-row.ts'
import { SharedStore } from './shared-store.ts'

const clock = new VirtualClock()
const random = seededRandom(1)
const rows = new MemoryRows()

/** A gateway whose row operations take 4 to 6 ms, and whose clock is ahead. */
function gatewayWith(number: number, aheadMs: number): ClockRow {
  const way = (): Promise<void> => clock.sleep(2 + random.next())
  const scheduler: Scheduler = {
    nowMicros: () => clock.nowMicros() + BigInt(aheadMs * 1000),
    steadyMs: () => clock.steadyMs(),
    defer: (task) => clock.defer(task),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  }
  const remote = rows.through(async (_, effect) => {
    await way()
    const answer = effect()
    await way()
    return answer
  })
  const store = new SharedStore({
    kv: new RowsKv(remote),
    gateway: BigInt(number),
    scheduler,
    random,
    rulesOf: () => {
      throw new Error('not part of this test')
    },
    onFailure: (error) => {
      throw error
    },
  })
  return new ClockRow(store, 'db', async () => {})
}

test('gateways whose clocks are behind get stamps beside one whose clock is ahead', async () => {
  const aheadMs = [80, 20, 0]
  const gateways = aheadMs.map((ms, i) => gatewayWith(i + 1, ms))
  const stamps = aheadMs.map(() => 0)
  const endMs = clock.steadyMs() + 4_000
  const work = async (gateway: ClockRow, i: number): Promise<void> => {
    for (let n = 0; clock.steadyMs() < endMs; n++) {
      gateway.finish(await gateway.stamp({ id: `${i}.${n}`, groups: [] }, gateway.epoch))
      stamps[i] = (stamps[i] ?? 0) + 1
    }
  }
  const done = Promise.all(gateways.map(work))
  await clock.advance(0)
  await clock.advance(4_000)
  const registerAheadMs = Number((gateways[0] as ClockRow).given - clock.nowMicros()) / 1000
  await clock.advance(1_000)
  await done
  expect(Math.max(...stamps) / Math.min(...stamps), `stamps by gateway: ${stamps.join(', ')}`).toBeLessThan(4)
  expect(registerAheadMs, 'the register keeps to the clock that is ahead').toBeLessThan(81)
})

test('a clock that is more than a second ahead is not followed, also not in steps', () => {
  const now = 1_800_000_000_000_000n
  const lead = new ClockLead({ nowMicros: () => now, steadyMs: () => 0 })
  lead.cameLate(now + 3_600_000_000n, 5)
  expect(lead.micros).toBe(0n)
  lead.cameLate(now + 80_000n, 5)
  expect(lead.micros).toBe(85_000n)
  for (let i = 0; i < 100; i++) lead.cameLate(now + lead.micros + 80_000n, 5)
  expect(lead.micros).toBeGreaterThan(900_000n)
  expect(lead.micros).toBeLessThanOrEqual(1_000_000n)
})
