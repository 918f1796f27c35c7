import { expect, test } from 'vitest'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { Expiry } from './expiry.ts'
import { idleMicrosMax, Transaction } from './transaction.ts'

function world(count: number, beganAt: (i: number, now: number) => number) {
  const clock = new VirtualClock()
  const open = new Set<Transaction>()
  const ended = (transaction: Transaction): void => void open.delete(transaction)
  const now = Number(clock.nowMicros())
  for (let id = 1; id <= count; id++) {
    const start = { id, database: 'd', readOnly: false, readTime: undefined, age: id, owner: { ended } }
    open.add(new Transaction({ ...start, mode: 'pessimistic', beganAt: beganAt(id - 1, now) }))
  }
  return { clock, open, expiry: new Expiry(clock, () => open) }
}

test('many that expire at once end some in each turn, whatever the number of calls', async () => {
  const { clock, open, expiry } = world(1_000, (_, now) => now)
  await clock.advance(idleMicrosMax / 1000)
  expiry.endDue()
  expect(open.size).toBe(1_000)
  await clock.advance(1_001)
  const left: number[] = []
  while (open.size > 0) {
    for (let calls = 0; calls < 100; calls++) expiry.endDue()
    left.push(open.size)
    await new Promise(setImmediate)
  }
  expect(left).toEqual([744, 488, 232, 0])
})

test('a transaction that is used goes on, and one that commits ends by itself', async () => {
  const { clock, open, expiry } = world(3, (_, now) => now)
  const [used, committing, idle] = [...open] as [Transaction, Transaction, Transaction]
  await clock.advance(59_500)
  expiry.endDue()
  used.usedAt = Number(clock.nowMicros())
  committing.committing = true
  await clock.advance(2_000)
  expiry.endDue()
  expect([used.state, committing.state, idle.state]).toEqual(['active', 'active', 'expired'])
})

test('while something waits, each ends at the instant at which it expires', async () => {
  const { clock, open, expiry } = world(3, (i, now) => now + i * 300_000)
  await clock.advance(59_900)
  const unwatch = expiry.watch()
  const sizes: number[] = []
  for (let i = 0; i < 4; i++) {
    await clock.advance(200)
    sizes.push(open.size)
  }
  expect(sizes).toEqual([2, 2, 1, 0])
  unwatch()
})
