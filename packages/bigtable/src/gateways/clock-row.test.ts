import { DatastoreError, type Key, openEngine } from '@sixtables/engine'
import { topicRowKey } from '@sixtables/engine/store'
import { expect, test } from 'vitest'
import { mutationOf } from '../../../engine/test/property/log-world.ts'
import { MemoryRows, type RowSeam } from '../row-store/memory-rows.ts'
import { OutcomeUnknown } from '../row-store/row-store.ts'
import { clockTopic } from './clock-rows.ts'
import { clockStateOf } from './clock-state.ts'
import { severalGateways } from './several-gateways.ts'

const key = (id: number): Key => ({
  partition: { projectId: 'p', databaseId: '', namespaceId: '' },
  path: [{ kind: 'G', id: BigInt(id) }],
})

test('a gateway lists at most 256 commits of a database, and further commits wait', async () => {
  const rows = new MemoryRows()
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  // No commit is applied until then, so that each stays in the list.
  const held: RowSeam = async (call, effect) => {
    if (call.kind === 'mutate' && !call.key.startsWith('M')) await released
    return effect()
  }
  const engine = await openEngine({ store: severalGateways({ rows: rows.through(held), gateway: 1 }) })
  const database = engine.database('p')
  let answered = 0
  const puts = Array.from({ length: 300 }, async (_, i) => {
    await database.commit(engine.context(), { mode: 'nonTransactional', mutations: [mutationOf(key(i + 1), i)] })
    answered++
  })
  const clock = topicRowKey(database.code, clockTopic)
  const listed = async (): Promise<number> => {
    const cells = (await rows.readRows([clock], [{ family: 'g' }])).get(clock)?.cells
    return clockStateOf([cells]).listed.length
  }
  for (let most = 0; answered < 256; ) {
    most = Math.max(most, await listed())
    expect(most).toBeLessThanOrEqual(256)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await listed()).toBe(256)
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect({ answered, listed: await listed() }).toEqual({ answered: 256, listed: 256 })
  release()
  await Promise.all(puts)
  await engine.close()
})

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test.each([
  ['the store refuses it', 'RESOURCE_EXHAUSTED'],
  ['the store is out of reach', 'UNAVAILABLE'],
  ['the epoch is raised', undefined],
] as const)('a read that waits for a commit in the list goes on when that gets no stamp, as %s', async (_, code) => {
  const rows = new MemoryRows()
  const other = await openEngine({ store: severalGateways({ rows, gateway: 2 }) })
  const clock = topicRowKey(other.database('p').code, clockTopic)
  const put = (engine: typeof other) =>
    engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations: [mutationOf(key(1), 1)] })
  const read = async (): Promise<string> => {
    await one.database('p').lookup(one.context(), { keys: [key(1), key(2)], read: { consistency: 'strong' } })
    return 'answered'
  }
  let writes = Number.NEGATIVE_INFINITY
  let late: () => unknown = () => undefined
  let reading: Promise<string> | undefined
  const unlucky: RowSeam = async ({ kind, key }, effect) => {
    if (kind !== 'mutateIf' || key !== clock) return effect()
    writes++
    if (writes === 1) {
      late = effect
      throw new OutcomeUnknown('by the wish of this test')
    }
    if (writes === 2) {
      // The commit stands in the list now, with a stamp that it does not know of.
      late()
      reading = read()
      await turns(50)
      if (code !== undefined) throw new DatastoreError(code, 'by the wish of this test')
      await other.reset({ projectId: 'p', databaseId: '' })
    }
    return effect()
  }
  await put(other)
  const one = await openEngine({ store: severalGateways({ rows: rows.through(unlucky), gateway: 1 }) })
  await put(one)
  await turns(50)
  writes = 0
  const committed = Promise.resolve(put(one))
  if (code === undefined) await committed
  else await expect(committed).rejects.toMatchObject({ code })
  expect(await Promise.race([reading, turns(20_000).then(() => 'waits for ever')])).toBe('answered')
  await Promise.all([one.close(), other.close()])
})
