import { expect, test } from 'vitest'
import { EndedTransactions } from './ended-transactions.ts'
import { Transaction } from './transaction.ts'

function ended(id: number, reason?: string): Transaction {
  const transaction = new Transaction({
    id,
    database: 'd',
    mode: 'pessimistic',
    readOnly: id % 2 === 0,
    readTime: undefined,
    age: id - 1,
    beganAt: 0,
  })
  transaction.end(reason === undefined ? 'committed' : 'aborted', reason)
  return transaction
}

test('a transaction that has ended is found as it was', () => {
  const recent = new EndedTransactions(4)
  expect(recent.find(7)).toBeUndefined()
  recent.add(ended(7, 'lost'))
  recent.add(ended(8))
  expect(recent.find(7)).toEqual({
    id: 7,
    database: 'd',
    readOnly: false,
    age: 6,
    state: 'aborted',
    abortReason: 'lost',
    name: 'transaction 7',
  })
  expect(recent.find(8)).toMatchObject({ readOnly: true, age: 7, state: 'committed', abortReason: undefined })
})

test('it is forgotten when `kept` others have ended, and not before', () => {
  const recent = new EndedTransactions(4)
  for (let id = 1; id <= 10; id++) {
    recent.add(ended(id))
    for (let other = 1; other <= 10; other++) {
      expect(recent.find(other)?.id, `${other} after ${id}`).toBe(other <= id && other > id - 4 ? other : undefined)
    }
  }
})
