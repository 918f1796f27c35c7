import { type Engine, type Key, openEngine, seededRandom } from '@sixtables/engine'
import { databaseCode } from '@sixtables/engine/store'
import { VirtualClock } from '@sixtables/engine/testing'
import { expect, test } from 'vitest'
import { mutationOf } from '../../../engine/test/property/log-world.ts'
import { MemoryRows, type RowOperationCall, type RowSeam } from '../row-store/memory-rows.ts'
import { OutcomeUnknown } from '../row-store/row-store.ts'
import { RowsKv } from '../row-store/rows-kv.ts'
import { ClockRow } from './clock-row.ts'
import { clockRowKey, clockTopic } from './clock-rows.ts'
import { clockCells, clockStateOf } from './clock-state.ts'
import { severalGateways } from './several-gateways.ts'
import { SharedStore } from './shared-store.ts'
import type { GatewayMechanism } from './switched-off.ts'

const key = (name: string): Key => ({
  partition: { projectId: 'p', databaseId: '', namespaceId: '' },
  path: [{ kind: 'G', name }],
})
const database = { projectId: 'p', databaseId: '' }

/** Gateways over one store of rows; `calls` are those of the last one. */
async function open(clockRows: number, count = 2) {
  const clock = new VirtualClock()
  const rows = new MemoryRows()
  const calls: RowOperationCall[] = []
  const engines: Engine[] = []
  for (let gateway = 1; gateway <= count; gateway++) {
    const seam = async <T>(call: RowOperationCall, effect: () => T): Promise<T> => {
      if (gateway === count) calls.push(call)
      return effect()
    }
    const store = severalGateways({ rows: rows.through(seam), gateway })
    engines.push(
      await openEngine({ store, scheduler: clock, onBackgroundFailure: (error) => expect.fail(String(error)) }),
    )
    if (gateway === 1 && clockRows > 1) await during(clock, store.changeRows(database, clockRows))
  }
  const put = async (gateway: number, name: string, value: number): Promise<bigint> => {
    const engine = engines[gateway - 1] as Engine
    const mutations = [mutationOf(key(name), value)]
    const commit = engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
    const { mutationResults } = await during(clock, Promise.resolve(commit))
    await during(clock, clock.sleep(100))
    return mutationResults[0]?.version ?? 0n
  }
  const lookup = async (gateway: number, names: readonly string[]) => {
    const engine = engines[gateway - 1] as Engine
    const asked = engine.database('p').lookup(engine.context(), { keys: names.map(key) })
    return await during(clock, Promise.resolve(asked))
  }
  const close = async (): Promise<void> => {
    for (const engine of engines) await during(clock, engine.close())
  }
  const ofClock = (): string[] => calls.filter(({ key }) => key.includes(clockTopic)).map(({ kind }) => kind)
  return { put, lookup, close, calls, ofClock, clock }
}

async function during<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isOver = false
  const over = work.finally(() => {
    isOver = true
  })
  over.catch(() => {})
  while (!isOver) await clock.advance(1)
  return await over
}

test('gateways at two clock rows give stamps with other remainders, each above what the other one gave', async () => {
  const { put, lookup, close } = await open(2)
  const stamps: bigint[] = []
  for (let n = 0; n < 6; n++) stamps.push(await put(1 + (n % 2), `${n}`, n))
  expect(new Set(stamps.map((stamp) => stamp % 2n)).size).toBe(2)
  expect(new Set(stamps.filter((_, n) => n % 2 === 0).map((stamp) => stamp % 2n)).size).toBe(1)
  expect([...stamps].sort((a, b) => (a < b ? -1 : 1))).toEqual(stamps)
  const { found, readTime } = await lookup(1, ['4', '5'])
  expect(found).toHaveLength(2)
  expect(readTime).toBeGreaterThanOrEqual(stamps.at(-1) as bigint)
  await close()
})

test.each([
  [1, ['mutateIf', 'mutateIf'], ['read']],
  [2, ['read', 'read', 'mutateIf', 'mutateIf'], ['read', 'read']],
])(
  'with %i clock rows a put, a strong read and a watch have these calls of clock rows',
  async (clockRows, ofPut, ofRead) => {
    const { put, lookup, close, calls, ofClock, clock } = await open(clockRows, 1)
    await put(1, 'a', 1)
    calls.length = 0
    await put(1, 'b', 2)
    expect(ofClock()).toEqual(ofPut)
    await lookup(1, ['a', 'b'])
    calls.length = 0
    await lookup(1, ['a', 'b'])
    expect(ofClock()).toEqual(ofRead)
    calls.length = 0
    await during(clock, clock.sleep(10_000))
    expect(ofClock(), 'two looks in ten seconds').toEqual([...ofRead, ...ofRead])
    expect(calls, 'each looks for a deletion, too').toHaveLength(2 * (ofRead.length + 1))
    await close()
  },
)

test('a new epoch keeps the clock rows of an epoch that began while the clock was compared', async () => {
  const rows = new MemoryRows(undefined, undefined, () => new VirtualClock().nowMicros())
  let compare = (): void => {}
  const compared = new Promise<void>((resolve) => {
    compare = resolve
  })
  const isComparison = ({ kind, key }: RowOperationCall): boolean => kind === 'read' && key === 'M'
  const gateway = (number: number, seam: RowSeam): ClockRow => {
    const kv = new RowsKv(rows.through(seam))
    const rulesOf = () => expect.fail('not part of this test')
    const onFailure = (error: unknown) => expect.fail(String(error))
    const parts = { kv, gateway: BigInt(number), scheduler: new VirtualClock(), random: seededRandom(1) }
    return new ClockRow(new SharedStore({ ...parts, rulesOf, onFailure }), 'db', async () => {})
  }
  const one = gateway(1, async (call, effect) => {
    if (isComparison(call)) await compared
    return effect()
  })
  const two = gateway(2, async (_, effect) => effect())
  const raised = one.raiseEpoch()
  await two.raiseEpoch(0, () => ({ used: 4, rows: 4 }))
  expect((await one.read()).used).toBe(4)
  compare()
  await raised
  expect(await two.read()).toMatchObject({ epoch: 2, used: 4 })
})

test.each([
  ['with nothing listed, also if write 1 of it is lost', 1, [], 0],
  ['with nothing listed, also if write 2 of it is lost', 2, [], 0],
  ['with nothing listed, also if write 3 of it is lost', 3, [], 0],
  ['with nothing listed, also if write 4 of it is lost', 4, [], 0],
  ['with nothing listed, also if write 5 of it is lost', 5, [], 0],
  ['with what is listed, if resolve-before-fewer is off', 0, ['resolve-before-fewer' as const], 1],
])('a clock row is left out %s', async (_, lost, off, left) => {
  const switchedOff = new Set<GatewayMechanism>(off)
  const clock = new VirtualClock()
  const rows = new MemoryRows()
  const going = clockRowKey(databaseCode('p', ''), 1)
  const onBackgroundFailure = (error: unknown) => expect.fail(String(error))
  let goOn = (): void => {}
  const standing = new Promise<void>((resolve) => {
    goOn = resolve
  })
  let isStanding = false
  // It stands still after its first commit is listed.
  const standsStill: RowSeam = async ({ kind, key }, effect) => {
    isStanding ||= kind === 'mutateIf' && !key.startsWith('M')
    if (isStanding) await standing
    return effect()
  }
  let writes = Number.NEGATIVE_INFINITY
  const loses: RowSeam = async ({ kind, key }, effect) => {
    if (kind === 'mutateIf' && key === going && ++writes === lost) throw new OutcomeUnknown('by the wish of this test')
    return effect()
  }
  const store = severalGateways({ rows: rows.through(loses), gateway: 2, switchedOff })
  const changer = await openEngine({ store, scheduler: clock, onBackgroundFailure })
  await during(clock, store.changeRows(database, 2))
  const other = severalGateways({ rows: rows.through(standsStill), gateway: 3 })
  const engine = await openEngine({ store: other, scheduler: clock, onBackgroundFailure })
  const mutations = [mutationOf(key('a'), 1)]
  const put = engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
  while (!isStanding) await clock.advance(1)
  const listed = async () => clockStateOf([(await rows.readRows([going], clockCells)).get(going)?.cells]).listed.length
  expect(await listed()).toBe(1)
  writes = 0
  await during(clock, store.changeRows(database, 1))
  expect(await listed()).toBe(left)
  goOn()
  await during(clock, Promise.resolve(put))
  for (const one of [changer, engine]) await during(clock, one.close())
})
