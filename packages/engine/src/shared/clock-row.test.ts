import { expect, test } from 'vitest'
import { mutationOf } from '../../test/property/log-world.ts'
import type { Key } from '../model/key.ts'
import { openEngine } from '../service/engine.ts'
import { MemoryRows, type RowSeam } from '../storage/memory-rows.ts'
import { topicRowKey } from '../tables/metadata-rows.ts'
import { decodeList } from './clock-list.ts'
import { clockTopic } from './clock-row.ts'

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
  const engine = await openEngine({ shared: { rows: rows.through(held), gateway: 1 } })
  const database = engine.database('p')
  let answered = 0
  const puts = Array.from({ length: 300 }, async (_, i) => {
    await database.commit(engine.context(), { mode: 'nonTransactional', mutations: [mutationOf(key(i + 1), i)] })
    answered++
  })
  const clock = topicRowKey(database.code, clockTopic)
  const listed = async (): Promise<number> => {
    const cell = (await rows.readRows([clock], [{ family: 'g' }])).get(clock)?.cells.g?.[0]
    return cell === undefined ? 0 : decodeList(cell.value).commits.length
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
