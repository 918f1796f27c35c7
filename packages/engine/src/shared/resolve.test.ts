import { expect, test } from 'vitest'
import { mutationOf } from '../../test/property/log-world.ts'
import type { Key } from '../model/key.ts'
import { openEngine } from '../service/engine.ts'
import { MemoryRows, type RowSeam } from '../storage/memory-rows.ts'
import { isOf } from '../tables/rows.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const key = (kind: string, id: number): Key => ({ partition, path: [{ kind, id: BigInt(id) }] })

test('the wait for commits that a gateway has left does not make the next such wait longer', async () => {
  const clock = new VirtualClock()
  const rows = new MemoryRows()
  const left: RowSeam = async (call, effect) => {
    if (call.kind === 'mutateIf' && isOf('Entities', call.key)) await new Promise(() => {})
    return effect()
  }
  let isSlow = false
  const slow: RowSeam = async (_, effect) => {
    if (isSlow) await clock.sleep(5)
    return effect()
  }
  const one = await openEngine({ shared: { rows: rows.through(left), gateway: 1 }, scheduler: clock })
  const two = await openEngine({ shared: { rows: rows.through(slow), gateway: 2 }, scheduler: clock })
  const ended = async <T>(work: T | Promise<T>): Promise<{ readonly result: T; readonly ms: number }> => {
    const startMs = clock.steadyMs()
    let endMs: number | undefined
    const done = Promise.resolve(work).finally(() => {
      endMs = clock.steadyMs()
    })
    while (endMs === undefined) await clock.advance(1)
    return { result: await done, ms: endMs - startMs }
  }
  isSlow = true
  const database = two.database('p')
  const tookMs: number[] = []
  for (let n = 1; n <= 30; n++) {
    const { result: transaction } = await ended(database.beginTransaction(two.context(), { mode: 'readWrite' }))
    await ended(database.lookup(two.context(), { keys: [key('Left', n)], read: { transaction } }))
    // It is stamped and goes no further, and the commit that follows has read what it writes.
    const mutations = [mutationOf(key('Left', n), 1)]
    Promise.resolve(one.database('p').commit(one.context(), { mode: 'nonTransactional', mutations })).catch(() => {})
    await clock.advance(1)
    const write = { mode: 'transactional', transaction, mutations: [mutationOf(key('Written', n), 1)] } as const
    tookMs.push((await ended(database.commit(two.context(), write))).ms)
  }
  // Four times ten milliseconds of patience, and 15 operations on rows.
  expect(tookMs.filter((ms) => ms > 125)).toEqual([])
  await ended(Promise.all([one.close(), two.close()]))
})
