import { expect, test } from 'vitest'
import { mutationOf, storedValue } from '../../test/property/log-world.ts'
import type { Key } from '../model/key.ts'
import { type Engine, openEngine } from '../service/engine.ts'
import { MemoryRows, type RowSeam } from '../storage/memory-rows.ts'
import { topicRowKey } from '../tables/metadata-rows.ts'
import { clockTopic } from './clock-row.ts'

const key: Key = { partition: { projectId: 'p', databaseId: '', namespaceId: '' }, path: [{ kind: 'G', name: 'a' }] }

const put = (engine: Engine, value: number | undefined) =>
  engine.database('p').commit(engine.context(), {
    mode: 'transactional',
    singleUse: { mode: 'readWrite' },
    mutations: [mutationOf(key, value)],
  })

test.each([
  ['the deletion of a missing entity', undefined],
  ['the upsert of the stored value', 1],
])('shared-commit/SC4: %s is true at the stamp of its answer', async (_, value) => {
  const rows = new MemoryRows()
  const other = await openEngine({ shared: { rows, gateway: 2 } })
  if (value !== undefined) await put(other, value)
  const clock = topicRowKey(other.database('p').code, clockTopic)
  let isCommitted = false
  let isHeld = false
  // Between the read of the group and the stamp another gateway commits.
  const held: RowSeam = async (call, effect) => {
    if (isHeld && call.kind === 'mutateIf' && call.key === clock) {
      isHeld = false
      await put(other, 5)
      isCommitted = true
    }
    return effect()
  }
  const one = await openEngine({ shared: { rows: rows.through(held), gateway: 1 } })
  await one.database('p').lookup(one.context(), { keys: [key] })
  isHeld = true
  const { commitTime = 0n } = await put(one, value)
  expect(isCommitted).toBe(true)
  const read = { readTime: commitTime }
  const { found } = await one.database('p').lookup(one.context(), { keys: [key], read })
  expect(found.map(({ image }) => storedValue(image.properties))).toEqual(value === undefined ? [] : [value])
  await Promise.all([one.close(), other.close()])
})
