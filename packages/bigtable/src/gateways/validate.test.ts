import { type Engine, type Key, openEngine } from '@sixtables/engine'
import { VirtualClock } from '@sixtables/engine/testing'
import { expect, test } from 'vitest'
import { mutationOf } from '../../../engine/test/property/log-world.ts'
import { MemoryRows } from '../row-store/memory-rows.ts'
import { severalGateways } from './several-gateways.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const key = (...names: string[]): Key => ({ partition, path: names.map((name) => ({ kind: 'G', name })) })

test('a transaction whose group was deleted after it had read is refused, also when the group has a newer commit', async () => {
  const rows = new MemoryRows()
  const scheduler = new VirtualClock()
  const engines = await Promise.all(
    [1, 2].map((gateway) => openEngine({ store: severalGateways({ rows, gateway }), scheduler })),
  )
  const [one, other] = engines as [Engine, Engine]
  const done = async <T>(work: T | PromiseLike<T>): Promise<T> => {
    const settled = Promise.allSettled([work])
    for (let turn = 0; turn < 50; turn++) await scheduler.advance(20)
    await settled
    return await work
  }
  const put = (engine: Engine, written: Key, value: number, transaction?: Uint8Array) =>
    engine.database('p').commit(engine.context(), {
      mutations: [mutationOf(written, value)],
      ...(transaction === undefined
        ? { mode: 'nonTransactional' as const }
        : { mode: 'transactional' as const, transaction }),
    })
  await done(put(one, key('a', 'read'), 1))
  const database = one.database('p')
  const transaction = await done(database.beginTransaction(one.context(), { mode: 'readWrite' }))
  const read = { transaction }
  expect((await done(database.lookup(one.context(), { keys: [key('a', 'read')], read }))).found).toHaveLength(1)
  await done(other.reset({ projectId: 'p', databaseId: '' }))
  await done(put(other, key('a'), 2))
  await expect(done(put(one, key('a', 'written'), 3, transaction))).rejects.toMatchObject({ code: 'ABORTED' })
  await Promise.all(engines.map((engine) => engine.close()))
})
