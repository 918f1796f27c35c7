import { type Engine, type Key, openEngine } from '@sixtables/engine'
import { databaseCode, topicRowKey } from '@sixtables/engine/store'
import { VirtualClock } from '@sixtables/engine/testing'
import { expect, test } from 'vitest'
import { mutationOf } from '../../../engine/test/property/log-world.ts'
import { MemoryRows } from '../row-store/memory-rows.ts'
import { clockTopic } from './clock-rows.ts'
import { severalGateways } from './several-gateways.ts'

const minuteMs = 60_000

async function commit(engine: Engine, projectId: string): Promise<void> {
  const key: Key = { partition: { projectId, databaseId: '', namespaceId: '' }, path: [{ kind: 'G', name: 'a' }] }
  await engine
    .database(projectId)
    .commit(engine.context(), { mode: 'nonTransactional', mutations: [mutationOf(key, 1)] })
}

async function pass(clock: VirtualClock, ms: number): Promise<void> {
  for (let at = 0; at < ms; at += 1_000) await clock.advance(1_000)
}

/** Calls of a gateway without clients in its first nine minutes, and in nine minutes after ten, in a store that has so many quiet databases. */
async function idleCalls(count: number): Promise<readonly number[]> {
  const rows = new MemoryRows()
  const scheduler = new VirtualClock()
  const one = await openEngine({
    store: severalGateways({ rows: rows.through(async (_, effect) => effect()), gateway: 1 }),
    scheduler,
  })
  for (let i = 0; i < count; i++) await commit(one, `p${i}`)
  await one.close()
  let calls = 0
  const counted = rows.through(async (_, effect) => effect())
  for (const name of ['readRows', 'scanRows', 'mutateRows', 'mutateRowIf'] as const) {
    const call = counted[name].bind(counted) as (...args: unknown[]) => never
    Object.assign(counted, {
      [name]: (...args: unknown[]) => {
        calls++
        return call(...args)
      },
    })
  }
  const two = await openEngine({ store: severalGateways({ rows: counted, gateway: 2 }), scheduler })
  const spans: number[] = []
  for (let span = 0; span < 2; span++) {
    calls = 0
    await pass(scheduler, 9 * minuteMs)
    spans.push(calls)
    // The first look at all of them stores once what is settled.
    await pass(scheduler, minuteMs)
  }
  await two.close()
  return spans
}

test('a gateway without clients asks no more of a store with many databases than of one, from its start on', async () => {
  const [first, later] = await idleCalls(1)
  // One of them strikes out the list that the other gateway has left in a database.
  expect(await idleCalls(60)).toEqual([(first ?? 0) + 59, later])
})

test('a list that was left in a database that no gateway uses is struck out all the same', async () => {
  const rows = new MemoryRows()
  const scheduler = new VirtualClock()
  const open = (gateway: number) =>
    openEngine({ store: severalGateways({ rows: rows.through(async (_, effect) => effect()), gateway }), scheduler })
  const lists = async () => {
    const key = topicRowKey(databaseCode('late', ''), clockTopic)
    return (await rows.readRows([key], [{ family: 'g' }])).get(key)?.cells.g?.map(({ at }) => at) ?? []
  }
  const watching = await open(1)
  // The second time the watching gateway knows the database, and has found it quiet.
  for (const gateway of [2, 3]) {
    const passing = await open(gateway)
    await commit(passing, 'late')
    await passing.close()
    expect(await lists()).toEqual([BigInt(gateway)])
    await pass(scheduler, 12 * minuteMs)
    expect(await lists()).toEqual([])
  }
  await watching.close()
})
