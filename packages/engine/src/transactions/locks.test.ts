/** The cost of locks, counted in steps: it grows with what each transaction does, not with how many others there are. */
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { mutationOf, worldKeys } from '../../test/property/log-world.ts'
import type { Database } from '../database/database.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import { RecordsFootprint } from '../log/footprint.ts'
import type { Key } from '../model/key.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { addWait, LockTable } from './lock-table.ts'
import { ReadSet } from './read-set.ts'
import { SpanTree } from './span-tree.ts'
import { Transaction } from './transaction.ts'

const [shared] = worldKeys
const { partition } = shared

let clock: VirtualClock
let engine: Engine
let database: Database

async function open(): Promise<void> {
  clock = new VirtualClock()
  engine = await openEngine({ scheduler: clock, mode: 'firestore', apply: { type: 'immediate' } })
  database = engine.database('p')
}

beforeEach(open)

const begin = async (): Promise<Uint8Array> => database.beginTransaction(engine.context(), { mode: 'readWrite' })
const beginAll = (count: number): Promise<Uint8Array[]> => Promise.all(Array.from({ length: count }, begin))

async function get(key: Key, transaction: Uint8Array): Promise<void> {
  await database.lookup(engine.context(), { keys: [key], read: { transaction } })
}

/** Reads the first entity of a kind, and with it a key range. */
async function scan(kind: string, transaction: Uint8Array): Promise<void> {
  const query = { partition, kind, projection: [], order: [], distinctOn: [], offset: 0, limit: 1 }
  await database.runQuery(engine.context(), { query, read: { transaction } })
}

async function commit(transaction: Uint8Array | undefined, key: Key, value: number): Promise<void> {
  const mutations = [mutationOf(key, value)]
  const how =
    transaction === undefined ? { mode: 'nonTransactional' as const } : { mode: 'transactional' as const, transaction }
  await database.commit(engine.context(), { ...how, mutations })
}

const named = (name: string, kind = 'A'): Key => ({ partition, path: [{ kind, name }] })

/** The number of these by the way they ended. */
async function outcomes(work: readonly Promise<void>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const done of await Promise.allSettled(work)) {
    const way = done.status === 'fulfilled' ? 'done' : String(done.reason.code)
    counts[way] = (counts[way] ?? 0) + 1
  }
  return counts
}

type Scenario = (count: number) => Promise<Record<string, number>>

const scenarios: Record<string, readonly [Scenario, (count: number) => Record<string, number>]> = {
  'read one row and change it': [
    async (count) => {
      const all = await beginAll(count)
      for (const one of all) await get(shared, one)
      return outcomes(all.map((one, i) => commit(one, shared, i)))
    },
    (count) => ({ done: 1, ABORTED: count - 1 }),
  ],
  'read one row and change it, the youngest first': [
    async (count) => {
      const all = (await beginAll(count)).reverse()
      for (const one of all) await get(shared, one)
      return outcomes(all.map((one, i) => commit(one, shared, i)))
    },
    (count) => ({ done: 1, ABORTED: count - 1 }),
  ],
  'scan one kind and add to it': [
    async (count) => {
      const all = await beginAll(count)
      for (const one of all) await scan('A', one)
      return outcomes(all.map((one, i) => commit(one, named(`n${i}`), i)))
    },
    (count) => ({ done: 1, ABORTED: count - 1 }),
  ],
  'scan each its own kind and add to it': [
    async (count) => {
      const all = await beginAll(count)
      for (const [i, one] of all.entries()) await scan(`Kind${i}`, one)
      return outcomes(all.map((one, i) => commit(one, named('n', `Kind${i}`), i)))
    },
    (count) => ({ done: count }),
  ],
  'read and change each its own row': [
    async (count) => {
      const all = await beginAll(count)
      for (const [i, one] of all.entries()) await get(named(`n${i}`), one)
      return outcomes(all.map((one, i) => commit(one, named(`n${i}`), i)))
    },
    (count) => ({ done: count }),
  ],
  'write what one has read, and wait for it': [
    async (count) => {
      const one = await begin()
      await get(shared, one)
      const writes = Array.from({ length: count }, (_, i) => commit(undefined, shared, i))
      await Promise.resolve()
      await database.rollback(engine.context(), one)
      return outcomes(writes)
    },
    (count) => ({ done: count }),
  ],
  'read what a writer waits for, and wait for it': [
    async (count) => {
      const [one, ...others] = (await beginAll(count + 1)) as [Uint8Array, ...Uint8Array[]]
      await get(shared, one)
      const written = commit(undefined, shared, 1)
      const reads = others.map((other) => get(shared, other))
      await database.rollback(engine.context(), one)
      await written
      return outcomes(reads)
    },
    (count) => ({ done: count }),
  ],
  'roll back one by one while many writers wait': [
    async (count) => {
      const all = await beginAll(count)
      for (const one of all) await get(shared, one)
      const writes = Array.from({ length: count }, (_, i) => commit(undefined, shared, i))
      for (const one of all) await database.rollback(engine.context(), one)
      return outcomes(writes)
    },
    (count) => ({ done: count }),
  ],
}

/** Looks at transactions, at what they have read, and at spans. */
async function stepsOf(scenario: Scenario, count: number): Promise<number> {
  await open()
  const spies = [
    vi.spyOn(ReadSet.prototype, 'has'),
    vi.spyOn(ReadSet.prototype, 'hitBy'),
    vi.spyOn(SpanTree.prototype, 'some'),
    vi.spyOn(LockTable.prototype, 'holders'),
    vi.spyOn(Transaction.prototype, 'hasExpired'),
    vi.spyOn(Transaction.prototype, 'notAtEnd'),
    vi.spyOn(Transaction.prototype, 'state', 'get'),
    vi.spyOn(Transaction.prototype, 'expiresAt', 'get'),
  ]
  await scenario(count)
  const steps = spies.reduce((sum, { mock }) => sum + mock.calls.length, 0)
  for (const spy of spies) spy.mockRestore()
  return steps
}

describe('lock-table/LT1: twice as many transactions that', () => {
  test.each(Object.entries(scenarios))('%s take about twice as many steps', async (_, [scenario, expected]) => {
    expect(await scenario(60)).toEqual(expected(60))
    const few = await stepsOf(scenario, 100)
    expect(few).toBeGreaterThan(100)
    expect((await stepsOf(scenario, 200)) / few).toBeLessThan(2.6)
  })
})

function transactionThatHolds(table: LockTable, rows: readonly string[], id = 1): Transaction {
  const beganAt = Number(clock.nowMicros())
  const ended = (one: Transaction): void => table.release(one)
  const start = { id, database: 'd', readOnly: false, readTime: undefined, age: id, beganAt, owner: { ended } }
  const transaction = new Transaction({ ...start, mode: 'pessimistic' })
  for (const row of rows) transaction.reads.addRow(row)
  table.take(transaction, transaction.reads)
  return transaction
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a transaction with many locks', () => {
  test('gives them back in slices when it ends, and wakes who waits for them at the end', async () => {
    const table = new LockTable(clock)
    const rows = Array.from({ length: 20_000 }, (_, i) => `row ${i}`)
    const transaction = transactionThatHolds(table, rows)
    let woken = 0
    addWait(table.waitsAt('row 19999'), transactionThatHolds(table, [], 2), () => woken++)
    transaction.end('rolledBack')
    const held = (): number => rows.filter((row) => table.isHeld(row, undefined)).length
    const left = [held()]
    expect(woken).toBe(0)
    while (left.at(-1) !== 0) {
      await turn()
      left.push(held())
    }
    expect(woken).toBe(1)
    for (const [i, count] of left.entries())
      expect((left[i - 1] ?? rows.length) - count).toBeLessThanOrEqual(4096 + 128)
  })
})

describe('many that wait for one row', () => {
  test('are woken a few in a turn', async () => {
    const table = new LockTable(clock)
    const transaction = transactionThatHolds(table, ['row'])
    let woken = 0
    for (let i = 0; i < 100; i++) addWait(table.waitsAt('row'), transactionThatHolds(table, [], i + 2), () => woken++)
    transaction.end('committed')
    for (let before = 0; woken < 100; before = woken) {
      expect(woken - before).toBeLessThanOrEqual(16)
      await turn()
    }
  })
})

test.each(['pessimistic', 'optimistic'] as const)(
  'of a commit, no index row is made of a kind that no %s transaction has scanned',
  async (concurrency) => {
    database.configure({ concurrency })
    const { indexRows } = RecordsFootprint.prototype
    let made = 0
    vi.spyOn(RecordsFootprint.prototype, 'indexRows').mockImplementation(function* (this: RecordsFootprint, isWanted) {
      for (const row of indexRows.call(this, isWanted)) {
        made++
        yield row
      }
    })
    const reader = await begin()
    await scan('A', reader)
    for (const name of ['x', 'y']) await commit(undefined, named(name, 'B'), 1)
    await commit(reader, named('z', 'B'), 1)
    expect(made).toBe(0)
    const other = await begin()
    await scan('A', other)
    const writing = commit(undefined, named('x', 'A'), 1)
    await database.rollback(engine.context(), other)
    await writing
    if (concurrency === 'pessimistic') expect(made).toBeGreaterThan(0)
    vi.restoreAllMocks()
  },
)
