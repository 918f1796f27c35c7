import { expect, test } from 'vitest'
import { mutationOf } from '../../test/property/log-world.ts'
import type { Key } from '../model/key.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { openEngine } from './engine.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const keys = Array.from(
  { length: 600 },
  (_, i): Key => ({
    partition,
    path: [
      { kind: 'List', id: 1n },
      { kind: 'ToDo', id: BigInt(i + 1) },
    ],
  }),
)

test('a restore waits for what a strong read applies that begins with it', async () => {
  const engine = await openEngine({ scheduler: new VirtualClock(), apply: { type: 'manual' } })
  const database = engine.database('p')
  const empty = await engine.snapshot()
  for (const key of keys) {
    const mutations = [mutationOf(key, 1)]
    await database.commit(engine.context(), { mode: 'transactional', singleUse: { mode: 'readWrite' }, mutations })
  }
  // The records are of one group, and more than are applied in one slice.
  const restored = engine.restore(empty)
  const read = database.lookup(engine.context(), { keys })
  await restored
  // It sees all that was there before, or nothing.
  expect([0, keys.length]).toContain((await read).found.length)
  expect((await database.lookup(engine.context(), { keys })).found).toEqual([])
  expect((await engine.check()).problems).toEqual([])
  await engine.close()
})
