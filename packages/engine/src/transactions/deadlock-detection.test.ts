import { expect, test, vi } from 'vitest'
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

test('a search goes no farther back in a line than it goes ahead, and those that give up search nothing again', async () => {
  const clock = new VirtualClock()
  const line = Array.from({ length: 200 }, (_, i) => transaction(i + 1, Number(clock.nowMicros())))
  const locks = new LockTable(clock)
  const expiry = new Expiry(clock, () => line)
  const lockWaits = new LockWaits({ scheduler: clock, locks, writers: new WaitingWriters(), expiry })
  const searched = vi.spyOn(locks, 'waitersOn')
  const ends: Promise<unknown>[] = []
  for (const waiter of line) waiter.reads.addRow('ToDo:2')
  // The first two of the line come last.
  for (const i of [...line.keys()].slice(3).concat(2, 1)) {
    const [holder, waiter] = [line[i - 1], line[i]] as [Transaction, Transaction]
    const goal = { row: 'ToDo:1', holder }
    ends.push(expect(lockWaits.wait(requestContext({ clock }), waiter, goal, 1000)).rejects.toThrow('within 1000 ms'))
    await clock.advance(1)
  }
  await clock.advance(1000)
  await Promise.all(ends)
  // Each that began to wait at the end of the line looked behind itself.
  expect(searched).toHaveBeenCalledTimes(line.length - 3)
})

test('a cycle is found by way of a transaction that waits for several others', async () => {
  const clock = new VirtualClock()
  const all = Array.from({ length: 3 }, (_, i) => transaction(i + 1, Number(clock.nowMicros())))
  const [first, second, third] = all as [Transaction, Transaction, Transaction]
  const locks = new LockTable(clock)
  const expiry = new Expiry(clock, () => all)
  const lockWaits = new LockWaits({ scheduler: clock, locks, writers: new WaitingWriters(), expiry })
  const wait = (waiter: Transaction, holder: Transaction): Promise<void> =>
    lockWaits.wait(requestContext({ clock }), waiter, { row: 'ToDo:1', holder }, 1000)
  const waits = [wait(first, third), wait(first, second)]
  second.end('committed')
  await waits[1]
  await expect(wait(third, first)).rejects.toThrow('the youngest gives way')
  await Promise.all(waits)
})
