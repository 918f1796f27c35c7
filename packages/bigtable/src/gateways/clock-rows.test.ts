import { type Engine, type Key, openEngine } from '@sixtables/engine'
import { VirtualClock } from '@sixtables/engine/testing'
import { expect, test } from 'vitest'
import { mutationOf } from '../../../engine/test/property/log-world.ts'
import { MemoryRows, type RowOperationCall } from '../row-store/memory-rows.ts'
import { clockTopic } from './clock-rows.ts'
import { severalGateways } from './several-gateways.ts'

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
