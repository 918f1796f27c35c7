import { seededRandom } from '@sixtables/engine/testing'
import { expect, it, onTestFinished } from 'vitest'
import { upsert } from '../sim/entities.ts'
import { openStore } from '../sim/store.ts'
import { ChargedDatabase } from './charged-database.ts'

it('each call takes the way to the service and back, and is counted (charged-database/DB1)', async () => {
  const store = await openStore({})
  onTestFinished(() => store.close())
  const database = new ChargedDatabase({ store, random: seededRandom(1), rpcMs: 10, answersEveryMs: 1 })
  const key = store.key({ kind: 'User', name: 'ada' })
  const query = store.query('User')
  const aggregations = [{ operator: 'count', upTo: undefined, alias: 'n' }] as const
  let transaction: Uint8Array = new Uint8Array()
  const calls: readonly (() => Promise<unknown>)[] = [
    () => database.commit({ mode: 'nonTransactional', mutations: [upsert(key, {})] }),
    () => database.lookup({ keys: [key] }),
    () => database.runQuery({ query }),
    () => database.runAggregationQuery({ query, aggregations }),
    () => database.allocateIds([store.key({ kind: 'User' })]),
    () => database.reserveIds([store.key({ kind: 'User', id: 7n })]),
    async () => {
      transaction = await database.beginTransaction({ mode: 'readWrite' })
    },
    () => database.rollback(transaction),
  ]
  const took: number[] = []
  for (const call of calls) {
    const before = store.nowMs
    await store.alone(async () => {
      await call()
      took.push(store.nowMs - before)
    })
  }
  expect(took).toEqual(calls.map(() => 10))
  expect(database.meter.calls).toBe(calls.length)
})
