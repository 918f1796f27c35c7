/**
 * Orders of writes to two clock rows that random runs meet too rarely (test/property/gateways.test.ts). Each test makes its order by holding back
 * writes of a row, and shows that the promise is broken while its mechanism is off.
 */
import { seededRandom } from '@sixtables/engine'
import { VirtualClock } from '@sixtables/engine/testing'
import { expect, test } from 'vitest'
import { MemoryRows } from '../row-store/memory-rows.ts'
import { RowsKv } from '../row-store/rows-kv.ts'
import { ClockRow, type OwnCommit } from './clock-row.ts'
import { clockRowKey } from './clock-rows.ts'
import { SharedStore } from './shared-store.ts'
import type { GatewayMechanism } from './switched-off.ts'

const database = 'db'
const group = 'G'

/** Holds back what comes to it until it is opened. */
class Gate {
  readonly #opened: Promise<void>
  readonly #reached: Promise<void>
  #reach = (): void => {}
  open = (): void => {}

  constructor() {
    this.#opened = new Promise((resolve) => {
      this.open = resolve
    })
    this.#reached = new Promise((resolve) => {
      this.#reach = resolve
    })
  }

  /** Resolves when something waits here. */
  get reached(): Promise<void> {
    return this.#reached
  }

  async pass(): Promise<void> {
    this.#reach()
    await this.#opened
  }
}

/** Gateways of a database with two clock rows; writes of row 1 by a gateway wait at the gate that `held` has for it. */
async function open(switchedOff: readonly GatewayMechanism[]) {
  const clock = new VirtualClock()
  const rows = new MemoryRows()
  const held = new Map<ClockRow, Gate>()
  const off = new Set<string>(switchedOff)
  const gateway = (number: number): ClockRow => {
    const seamed = rows.through(async ({ kind, key }, effect) => {
      if (kind === 'mutateIf' && key === clockRowKey(database, 1)) await held.get(opened)?.pass()
      return effect()
    })
    const rulesOf = () => expect.fail('not part of this test')
    const onFailure = (error: unknown) => expect.fail(String(error))
    const parts = { kv: new RowsKv(seamed), gateway: BigInt(number), scheduler: clock, random: seededRandom(number) }
    const opened = new ClockRow(new SharedStore({ ...parts, rulesOf, onFailure, switchedOff: off }), database, noAdopt)
    return opened
  }
  // By its number, a gateway alone in the database gives stamps in row 1 or row 0.
  const [atRow1, atRow0] = [gateway(1), gateway(2)]
  await passing(
    clock,
    atRow0.raiseEpoch(0, () => ({ used: 2, rows: 2 })),
  )
  const stamp = async (one: ClockRow, id: string): Promise<OwnCommit> => {
    await one.readBeforeStamps()
    return await one.stamp({ id, groups: [group] }, one.epoch)
  }
  return { clock, atRow0, atRow1, held, stamp }
}

async function noAdopt(): Promise<void> {}

/** Lets time pass until the work is done. */
async function passing<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isOver = false
  const over = work.finally(() => {
    isOver = true
  })
  over.catch(() => {})
  while (!isOver) await clock.advance(1)
  return await over
}

test.each<[string, GatewayMechanism[], string[]]>([
  ['has a commit', [], ['late', 'first']],
  ['misses it while it uses the lists from before the raise', ['read-after-raise'], ['first']],
])('a strong read whose raise comes right after the stamp of a commit %s', async (_, switchedOff, expected) => {
  const { clock, atRow0, atRow1, held, stamp } = await open(switchedOff)
  await atRow1.read()
  const [ofCommit, ofRaise] = [new Gate(), new Gate()]
  held.set(atRow1, ofCommit)
  const late = stamp(atRow1, 'late')
  await passing(clock, ofCommit.reached)
  await clock.advance(1)
  const first = await passing(clock, stamp(atRow0, 'first'))
  held.set(atRow0, ofRaise)
  const closing = atRow0.closed()
  await passing(clock, ofRaise.reached)
  ofCommit.open()
  expect((await passing(clock, late)).stamp).toBeLessThan(first.stamp)
  ofRaise.open()
  const { given, listed } = await passing(clock, closing)
  expect(given).toBe(first.stamp)
  expect(listed.map(({ id }) => id).sort()).toEqual(expected.toSorted())
})

test.each<[string, GatewayMechanism[], boolean]>([
  ['no commit of the old one', [], false],
  ['one while a reading counts that has rows of both', ['whole-epoch'], true],
])('above the begin of a new epoch is %s', async (_, switchedOff, isAbove) => {
  const { clock, atRow0, atRow1, held, stamp } = await open(switchedOff)
  await passing(clock, stamp(atRow0, 'first'))
  // It raises row 1 ahead of the clock.
  await passing(clock, atRow0.closed())
  await atRow1.read()
  const [ofCommit, ofEpoch] = [new Gate(), new Gate()]
  held.set(atRow1, ofCommit)
  held.set(atRow0, ofEpoch)
  const old = stamp(atRow1, 'old')
  await passing(clock, ofCommit.reached)
  const raising = atRow0.raiseEpoch()
  await passing(clock, ofEpoch.reached)
  ofCommit.open()
  const { stamp: stampOfOld } = await passing(clock, old)
  ofEpoch.open()
  expect(stampOfOld > (await passing(clock, raising))).toBe(isAbove)
})
