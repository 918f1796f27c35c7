/** A ledger against what a server has (ledger-load/L1 to ledger-load/L4). */
import { expect } from 'vitest'
import {
  accountKeys,
  accounts,
  droppedKeys,
  indexedQueries,
  indexedQuery,
  type Ledger,
  resetProject,
  tallyKeys,
  transferKey,
} from './ledger-load.ts'
import type { Wire } from './wires.ts'
import { count } from './write-load.ts'
import { lookup, pathOf, runQuery } from './write-verdict.ts'

/** Fails where the server tells another story; what it tells of unanswered writes becomes part of the ledger. */
export async function verifyLedger(wire: Wire, ledger: Ledger): Promise<void> {
  await verifyTallies(wire, ledger)
  await verifyTransfers(wire, ledger)
  await verifyDroppable(wire, ledger)
  await verifyIndexed(wire)
}

async function verifyTallies(wire: Wire, ledger: Ledger): Promise<void> {
  const found = await lookup(wire, tallyKeys)
  for (const [i, tally] of ledger.tallies.entries()) {
    const figure = found.get(`Tally/${i}`)?.figure ?? 0
    const { acknowledged, unanswered } = tally
    const said = `Tally/${i} is ${figure}; ${acknowledged} raises were acknowledged, ${unanswered} not answered`
    expect(figure >= acknowledged && figure <= acknowledged + unanswered, said).toBe(true)
    tally.acknowledged = figure
    tally.unanswered = 0
  }
}

async function verifyTransfers(wire: Wire, ledger: Ledger): Promise<void> {
  const { transfers } = ledger
  const found = await lookup(wire, [...accountKeys, ...transfers.map((_, n) => transferKey(n))])
  const balances = count(accounts).map(() => 0)
  for (const [n, transfer] of transfers.entries()) {
    const amount = found.get(pathOf(transferKey(n)))?.figure
    const said = `Transfer/${n}, ${transfer.outcome}, has ${amount}`
    const isPossible = amount === undefined ? transfer.outcome !== 'acknowledged' : transfer.outcome !== 'aborted'
    expect(isPossible, said).toBe(true)
    transfer.outcome = amount === undefined ? 'aborted' : 'acknowledged'
    if (amount === undefined) continue
    expect(amount, said).toBe(transfer.amount)
    balances[transfer.from] = (balances[transfer.from] ?? 0) - amount
    balances[transfer.to] = (balances[transfer.to] ?? 0) + amount
  }
  const figures = accountKeys.map((key) => found.get(pathOf(key))?.figure ?? 0)
  expect(figures, 'accounts are what the transfers add up to').toEqual(balances)
}

async function verifyDroppable(wire: Wire, ledger: Ledger): Promise<void> {
  const { droppable } = ledger
  const batches = count(ledger.nextBatch)
  const found = await lookup(wire, batches.flatMap(droppedKeys), resetProject)
  const there = batches.filter((batch) => {
    const keys = droppedKeys(batch).filter((key) => found.has(pathOf(key)))
    expect([0, droppedKeys(batch).length], `Dropped/${batch} was written by one transaction`).toContain(keys.length)
    return keys.length > 0
  })
  const sure = [...droppable.acknowledged]
  const perhaps = droppable.unanswered === undefined ? sure : [...sure, droppable.unanswered]
  const possible = [sure, perhaps, ...(droppable.isDropping ? [[]] : [])]
  expect(possible, droppable.isDropping ? 'a reset was under way' : 'no reset was under way').toContainEqual(there)
  droppable.acknowledged = there
  droppable.unanswered = undefined
  droppable.isDropping = false
}

/** That the composite indexes whose builds were cut off by a kill serve the same entities as the built-in ones. */
async function verifyIndexed(wire: Wire): Promise<void> {
  for (let round = 0; round < indexedQueries; round++) {
    const { kind, order } = indexedQuery(round)
    const plain = await runQuery(wire, { kind })
    const indexed = await runQuery(wire, { kind, order })
    expect([...indexed.keys()].sort(), `indexed query ${round}`).toEqual([...plain.keys()].sort())
    const [isEvenFirst, isRising] = [(round & 1) === 0, (round & 2) === 0]
    const parities = [...indexed.values()].map(({ figure }) => figure % 2)
    expect(parities, `indexed query ${round}`).toEqual([...parities].sort((a, b) => (isEvenFirst ? a - b : b - a)))
    for (const parity of [0, 1]) {
      const figures = [...indexed.values()].map(({ figure }) => figure).filter((figure) => figure % 2 === parity)
      expect(figures, `indexed query ${round}`).toEqual([...figures].sort((a, b) => (isRising ? a - b : b - a)))
    }
  }
}
