import { type Key, openEngine } from '@sixtables/engine'
import { isOf } from '@sixtables/engine/store'
import { query, VirtualClock } from '@sixtables/engine/testing'
import { expect, test } from 'vitest'
import { mutationOf } from '../../../engine/test/property/log-world.ts'
import { MemoryRows, type RowSeam } from '../row-store/memory-rows.ts'
import { severalGateways } from './several-gateways.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const key = (kind: string, id: number): Key => ({ partition, path: [{ kind, id: BigInt(id) }] })

/** A gateway on a store that takes some milliseconds for each call, beside one that stamps commits and goes no further with them. */
async function openBeside(callMs: number) {
  const clock = new VirtualClock()
  const rows = new MemoryRows()
  const left: RowSeam = async (call, effect) => {
    if (call.kind === 'mutateIf' && isOf('Entities', call.key)) await new Promise(() => {})
    return effect()
  }
  let isSlow = false
  const counted = { writes: 0 }
  const slow: RowSeam = async (call, effect) => {
    if (call.kind === 'mutateIf' && isOf('Entities', call.key)) counted.writes++
    if (isSlow) await clock.sleep(callMs)
    return effect()
  }
  const one = await openEngine({ store: severalGateways({ rows: rows.through(left), gateway: 1 }), scheduler: clock })
  const two = await openEngine({ store: severalGateways({ rows: rows.through(slow), gateway: 2 }), scheduler: clock })
  isSlow = true
  const ended = async <T>(work: T | Promise<T>): Promise<{ readonly result: T; readonly ms: number }> => {
    const startMs = clock.steadyMs()
    let endMs: number | undefined
    const done = Promise.resolve(work).finally(() => {
      endMs = clock.steadyMs()
    })
    while (endMs === undefined) await clock.advance(1)
    return { result: await done, ms: endMs - startMs }
  }
  const leave = async (n: number): Promise<void> => {
    const mutations = [mutationOf(key('Left', n), 1)]
    Promise.resolve(one.database('p').commit(one.context(), { mode: 'nonTransactional', mutations })).catch(() => {})
    await clock.advance(1)
  }
  const close = () => ended(Promise.all([one.close(), two.close()]))
  return { clock, two, counted, ended, leave, close }
}

test('the wait for commits that a gateway has left does not make the next such wait longer', async () => {
  const { two, ended, leave, close } = await openBeside(5)
  const database = two.database('p')
  const tookMs: number[] = []
  for (let n = 1; n <= 30; n++) {
    const { result: transaction } = await ended(database.beginTransaction(two.context(), { mode: 'readWrite' }))
    await ended(database.lookup(two.context(), { keys: [key('Left', n)], read: { transaction } }))
    // The commit that follows has read what it writes.
    await leave(n)
    const write = { mode: 'transactional', transaction, mutations: [mutationOf(key('Written', n), 1)] } as const
    tookMs.push((await ended(database.commit(two.context(), write))).ms)
  }
  // Four times ten milliseconds of patience, and 15 operations on rows.
  expect(tookMs.filter((ms) => ms > 125)).toEqual([])
  await close()
})

test('the patience follows the time of commits also while reads come upon commits that a gateway has left', async () => {
  const { clock, two, ended, leave, close } = await openBeside(20)
  const database = two.database('p')
  const tookMs: number[] = []
  let n = 0
  for (let round = 0; round < 20; round++) {
    // With the patience of the beginning one of them ends each 20 ms from 250 on, so also while the commit is under way.
    const asked: Promise<{ readonly ms: number }>[] = []
    for (let i = 0; i < 9; i++) {
      await leave(++n)
      asked.push(ended(database.runQuery(two.context(), { query: query({ kind: 'Left' }) })))
      await clock.advance(20)
    }
    await clock.advance(100)
    // In two groups, so it takes three calls, one after the other.
    const mutations = [mutationOf(key('Written', n), 1), mutationOf(key('Other', n), 1)]
    const singleUse = { mode: 'readWrite' } as const
    await ended(database.commit(two.context(), { mode: 'transactional', singleUse, mutations }))
    tookMs.push(Math.min(...(await Promise.all(asked)).map(({ ms }) => ms)))
  }
  expect((tookMs.at(-1) ?? 0) - (tookMs[0] ?? 0)).toBeGreaterThan(150)
  await close()
})

test('reads that meet the same commits, which a gateway has left, refuse each of them once or twice', async () => {
  const { clock, two, counted, ended, leave, close } = await openBeside(5)
  for (let n = 1; n <= 20; n++) await leave(n)
  const keys = Array.from({ length: 20 }, (_, i) => key('Left', i + 1))
  const reads: unknown[] = []
  const puts = 20
  for (let i = 0; i < puts; i++) {
    const mutations = [mutationOf(key('Written', i + 1), 1)]
    reads.push(two.database('p').commit(two.context(), { mode: 'nonTransactional', mutations }))
    reads.push(two.database('p').lookup(two.context(), { keys }))
    await clock.advance(2)
  }
  await ended(Promise.all(reads))
  expect(counted.writes - puts).toBeLessThanOrEqual(2 * 20)
  await close()
})
