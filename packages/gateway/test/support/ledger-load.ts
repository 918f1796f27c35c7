/**
 * Writers of what has to add up, beside those of write-load.ts, and what may be found of it after the server died.
 *
 *   Tally(i)           three entities with a figure that everybody raises by one, by a transform
 *   Account(i)         five entities in five groups: `figure` moves from one to another, by begin, lookup and commit
 *   Transfer(n)        written in the same transaction: what moved, from where to where
 *   (project reset)    entities of one writer, written in transactions of three and dropped by POST /reset
 *
 * L1  A tally is at least what was acknowledged, and at most that and what is unanswered: a transform happens once.
 * L2  Accounts are what the transfers that are there add up to: none is there half, none was read half.
 * L3  An acknowledged transfer is there; one that was answered ABORTED is not.
 * L4  A reset that was acknowledged left nothing; one that was not answered dropped all or nothing.
 */
import type { Plain } from './published-protos.ts'
import type { Host, Wire } from './wires.ts'
import { ask, count, entity, keyOf, oneByOne, post, transaction, unlessAborted, untilDeath } from './write-load.ts'

const tallies = 3
export const accounts = 5
export const resetProject = 'crash-reset'
const resetNamespace = 'dropped'
const resetBatches = 20
const resetBatchKeys = 3

export const tallyKey = (i: number): Plain => keyOf('Tally', { name: String(i) })
export const tallyKeys: readonly Plain[] = count(tallies).map(tallyKey)
export const accountKeys: readonly Plain[] = count(accounts).map((i) => keyOf('Account', { name: String(i) }))
export const transferKey = (n: number): Plain => keyOf('Transfer', { name: String(n) })

export interface Transfer {
  readonly from: number
  readonly to: number
  readonly amount: number
  outcome: 'acknowledged' | 'aborted' | 'unanswered'
}

/** What may be in the namespace that is reset: batches from `from` (dropped before), up to `to`. */
export interface Droppable {
  /** Batches that are there for sure, unless `isDropping`. */
  acknowledged: number[]
  unanswered: number | undefined
  isDropping: boolean
}

export class Ledger {
  readonly tallies: { acknowledged: number; unanswered: number }[] = count(tallies).map(() => ({
    acknowledged: 0,
    unanswered: 0,
  }))
  readonly transfers: Transfer[] = []
  readonly droppable: Droppable = { acknowledged: [], unanswered: undefined, isDropping: false }
  acknowledgedCount = 0
  abortedCount = 0
  nextBatch = 0
}

/** Raises tallies and moves figures between accounts, in turn. */
export function moveUntilDeath(wire: Wire, ledger: Ledger, writer: number): Promise<void> {
  return untilDeath((step) =>
    step % 2 === 0 ? raise(wire, ledger, (step + writer) % tallies) : move(wire, ledger, step),
  )
}

async function raise(wire: Wire, ledger: Ledger, i: number): Promise<void> {
  const tally = ledger.tallies[i]
  if (tally === undefined) return
  const propertyTransforms = [{ property: 'figure', increment: { integerValue: '1' } }]
  const mutation = { upsert: { key: tallyKey(i) }, propertyMask: { paths: [] }, propertyTransforms }
  tally.unanswered++
  const done = await unlessAborted(ask(wire, 'Commit', oneByOne(mutation)))
  tally.unanswered--
  if (done === undefined) ledger.abortedCount++
  else {
    tally.acknowledged++
    ledger.acknowledgedCount++
  }
}

async function move(wire: Wire, ledger: Ledger, step: number): Promise<void> {
  const n = ledger.transfers.length
  const from = (n + step) % accounts
  const to = (from + 1 + (n % (accounts - 1))) % accounts
  const transfer: Transfer = { from, to, amount: 1 + (n % 7), outcome: 'aborted' }
  ledger.transfers.push(transfer)
  const begun = await ask(wire, 'BeginTransaction', {})
  const read = await unlessAborted(
    ask(wire, 'Lookup', {
      keys: [accountKeys[from], accountKeys[to]],
      readOptions: { transaction: begun['transaction'] },
    }),
  )
  if (read === undefined) {
    ledger.abortedCount++
    return
  }
  const balances = new Map(((read['found'] ?? []) as Plain[]).map(nameAndFigure))
  const mutations = [
    { upsert: entity(accountKeys[from] ?? {}, (balances.get(String(from)) ?? 0) - transfer.amount) },
    { upsert: entity(accountKeys[to] ?? {}, (balances.get(String(to)) ?? 0) + transfer.amount) },
    { insert: entity(transferKey(n), transfer.amount) },
  ]
  transfer.outcome = 'unanswered'
  const request = { mode: 'TRANSACTIONAL', transaction: begun['transaction'], mutations }
  const done = await unlessAborted(ask(wire, 'Commit', request))
  transfer.outcome = done === undefined ? 'aborted' : 'acknowledged'
  if (done === undefined) ledger.abortedCount++
  else ledger.acknowledgedCount++
}

function nameAndFigure({ entity: found }: Plain): [string, number] {
  const { key, properties } = found as Plain
  const name = ((key as Plain)['path'] as Plain[])[0]?.['name']
  return [String(name), Number(((properties as Plain)['figure'] as Plain)['integerValue'])]
}

export const droppedKeys = (batch: number): Plain[] =>
  count(resetBatchKeys).map((i) => ({
    partitionId: { projectId: resetProject, namespaceId: resetNamespace },
    ...keyOf('Dropped', { name: `${batch}-${i}` }),
  }))

/** Writes batches of entities, and drops them all; by its namespace and by its project in turn. */
export function dropUntilDeath(wire: Wire, host: Host, ledger: Ledger): Promise<void> {
  const { droppable } = ledger
  return untilDeath(async (step) => {
    for (let i = 0; i < resetBatches; i++) {
      const batch = ledger.nextBatch++
      droppable.unanswered = batch
      const mutations = droppedKeys(batch).map((key) => ({ upsert: entity(key, batch) }))
      const done = await unlessAborted(ask(wire, 'Commit', transaction(mutations), resetProject))
      droppable.unanswered = undefined
      if (done !== undefined) droppable.acknowledged.push(batch)
    }
    droppable.isDropping = true
    const namespace = step % 2 === 0 ? `&namespace=${resetNamespace}` : ''
    await post(`http://${host.host}:${host.port}/reset?project=${resetProject}${namespace}`)
    droppable.isDropping = false
    droppable.acknowledged = []
  })
}

/** Each reads, in an order that needs a composite index which is built meanwhile; what it answers is not looked at. */
export function queryUntilDeath(wire: Wire, round: number): Promise<void> {
  const query = indexedQuery(round)
  return untilDeath(async () => {
    await unlessAborted(ask(wire, 'RunQuery', { query }))
  })
}

const orderOf = (name: string, isRising: boolean): Plain => ({
  property: { name },
  direction: isRising ? 'ASCENDING' : 'DESCENDING',
})

export const indexedQueries = 8

/** A query that no built-in index serves: another one each round, {@link indexedQueries} in all. */
export function indexedQuery(round: number): Plain {
  const order = [orderOf('parity', (round & 1) === 0), orderOf('figure', (round & 2) === 0)]
  return { kind: [{ name: (round & 4) === 0 ? 'Auto' : 'Transfer' }], order, limit: { value: 50 } }
}
