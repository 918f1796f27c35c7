import { expect, test } from 'vitest'
import { requestContext } from '../context.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { LockWaits } from './deadlock-detection.ts'
import { Expiry } from './expiry.ts'
import { addWait, LockTable } from './lock-table.ts'
import { Transaction } from './transaction.ts'
import { WaitingWriters } from './waiting-writers.ts'

function transaction(id: number, beganAt: number): Transaction {
  return new Transaction({
    id,
    database: 'd',
    mode: 'pessimistic',
    readOnly: false,
    readTime: undefined,
    age: id,
    beganAt,
  })
}

test('deadlock-detection/W1: a long line of waiters is no deadlock, and its youngest gives way when it becomes a circle', async () => {
  const clock = new VirtualClock()
  const context = requestContext({ clock })
  const beganAt = Number(clock.nowMicros())
  const line = Array.from({ length: 20_000 }, (_, i) => transaction(i + 1, beganAt))
  const locks = new LockTable(clock)
  const expiry = new Expiry(clock, () => line)
  const lockWaits = new LockWaits({ scheduler: clock, locks, writers: new WaitingWriters(), expiry })
  const wait = (waiter: Transaction | undefined, holder: Transaction | undefined): Promise<void> => {
    if (waiter === undefined || holder === undefined) throw new Error('no such transaction')
    return lockWaits.wait(context, waiter, { row: 'ToDo:1', holder }, 1000)
  }
  const waits = line.slice(1).map((waiter, i) => wait(waiter, line[i]))
  expect(line.filter(({ state }) => state !== 'active')).toEqual([])
  const last = line.at(-1)
  const closing = wait(line[0], last)
  expect(last?.state).toBe('aborted')
  expect(line.filter(({ state }) => state === 'aborted')).toEqual([last])
  for (const one of line) if (one.state === 'active') one.end('committed')
  await Promise.allSettled([...waits, closing])
})

test('a search meets the waiters of a row once, however many of them have locked it', async () => {
  const clock = new VirtualClock()
  const locks = new LockTable(clock)
  const readers = Array.from({ length: 20 }, (_, i) => transaction(i + 1, Number(clock.nowMicros())))
  const waits = locks.waitsAt('ToDo:1')
  for (const one of readers) {
    one.reads.addRow('ToDo:1')
    addWait(waits, one, () => {})
  }
  const seen = new Set<object>()
  const met = readers.flatMap(({ reads }) => [...locks.waitersOn(reads, seen)])
  expect(met).toEqual(readers)
})
