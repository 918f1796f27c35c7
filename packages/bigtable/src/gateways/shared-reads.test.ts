import { type Engine, type Key, openEngine } from '@sixtables/engine'
import { isOf } from '@sixtables/engine/store'
import { query, VirtualClock } from '@sixtables/engine/testing'
import { expect, test } from 'vitest'
import { mutationOf } from '../../../engine/test/property/log-world.ts'
import { MemoryRows, type RowSeam } from '../row-store/memory-rows.ts'
import { severalGateways } from './several-gateways.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const [a, b] = ['a', 'b'].map((name): Key => ({ partition, path: [{ kind: 'G', name }] })) as [Key, Key]

const put = async (engine: Engine, key: Key): Promise<bigint> => {
  const commit = { mode: 'transactional', singleUse: { mode: 'readWrite' }, mutations: [mutationOf(key, 1)] } as const
  return (await engine.database('p').commit(engine.context(), commit)).commitTime ?? 0n
}

test('a lookup in one group is in no order with commits to other groups: after a later one it may miss an earlier one', async () => {
  const scheduler = new VirtualClock()
  const rows = new MemoryRows()
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const seam: RowSeam = async (call, effect) => {
    if (call.kind === 'mutateIf' && isOf('Entities', call.key)) await held
    return effect()
  }
  const one = await openEngine({ store: severalGateways({ rows: rows.through(seam), gateway: 1 }), scheduler })
  const two = await openEngine({ store: severalGateways({ rows, gateway: 2 }), scheduler })
  const database = two.database('p')
  const atB = put(one, b)
  await scheduler.advance(1)
  // It finds the commit to B listed, and waits for it.
  const all = Promise.resolve(database.runQuery(two.context(), { query: query({ kind: 'G' }) }))
  await scheduler.advance(1)
  const versionOfA = await put(two, a)
  const { found } = await database.lookup(two.context(), { keys: [b] })
  release()
  expect(await atB).toBeLessThan(versionOfA)
  await scheduler.advance(1_000)
  expect(found).toEqual([])
  expect((await all).results.map(({ key }) => key.path)).toEqual([b.path])
  // After the query has ended, no lookup misses what it saw.
  expect((await database.lookup(two.context(), { keys: [b] })).found).toHaveLength(1)
  await Promise.all([one.close(), two.close()])
})
