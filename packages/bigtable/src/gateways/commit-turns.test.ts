import { DatastoreError, type Engine, type Key, openEngine } from '@sixtables/engine'
import { isOf } from '@sixtables/engine/store'
import { expect, test } from 'vitest'
import { entity, excluded, integer, property, string } from '../../../engine/test/property/entity-messages.ts'
import { mutationOf, storedValue } from '../../../engine/test/property/log-world.ts'
import { MemoryRows, type RowSeam } from '../row-store/memory-rows.ts'
import { OutcomeUnknown } from '../row-store/row-store.ts'
import { type GatewayOptions, severalGateways } from './several-gateways.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const root: Key = { partition, path: [{ kind: 'G', name: 'a' }] }
const child = (id: number): Key => ({ partition, path: [...root.path, { kind: 'A', id: BigInt(id) }] })

type Mutation = ReturnType<typeof mutationOf>

/** Two gateways; conditional writes of the group's row at the first one pass through `append`. */
async function openTwo(
  append: (effect: () => unknown) => unknown = (effect) => effect(),
  options: Pick<GatewayOptions, 'groupBytesMax'> = {},
) {
  const rows = new MemoryRows()
  let appends = 0
  const seam: RowSeam = async (call, effect) => {
    if (call.kind !== 'mutateIf' || !isOf('Entities', call.key)) return effect()
    appends++
    return (await append(effect)) as ReturnType<typeof effect>
  }
  const one = await openEngine({ store: severalGateways({ ...options, rows: rows.through(seam), gateway: 1 }) })
  const two = await openEngine({ store: severalGateways({ rows, gateway: 2 }) })
  return { one, two, appends: () => appends, close: () => Promise.all([one.close(), two.close()]) }
}

const commit = async (engine: Engine, mutation: Mutation, transaction?: Uint8Array) =>
  await engine.database('p').commit(engine.context(), {
    mode: 'transactional',
    ...(transaction === undefined ? { singleUse: { mode: 'readWrite' } } : { transaction }),
    mutations: [mutation],
  } as const)

/** The outcome of each commit: `true`, or the code of its error. */
const outcomes = async (commits: readonly Promise<unknown>[]): Promise<unknown[]> =>
  (await Promise.allSettled(commits)).map((one) => (one.status === 'fulfilled' ? true : one.reason.code))

/** The outcomes of commits that are made at once. */
const answers = (engine: Engine, mutations: readonly Mutation[]): Promise<unknown[]> =>
  outcomes(mutations.map((mutation) => commit(engine, mutation)))

const valuesAt = async (engine: Engine, keys: readonly Key[]): Promise<unknown[]> => {
  const { found } = await engine.database('p').lookup(engine.context(), { keys })
  return found.map(({ image }) => storedValue(image.properties))
}

test('commits of one group that wait share an append, and each has its version', async () => {
  const { one, two, appends, close } = await openTwo()
  const before = appends()
  const puts = Array.from({ length: 16 }, (_, i) => commit(one, mutationOf(i % 2 === 0 ? root : child(1), i + 1)))
  const versions = (await Promise.all(puts)).map(({ commitTime }) => commitTime)
  expect(new Set(versions).size).toBe(16)
  expect(versions.toSorted()).toEqual(versions)
  expect(appends() - before).toBe(1)
  expect(await valuesAt(two, [root, child(1)])).toEqual([15, 16])
  expect((await two.check()).problems).toEqual([])
  await close()
})

test('commits that share a turn are decided one after the other, and one that fails does not fail others', async () => {
  const { one, two, close } = await openTwo()
  await commit(two, mutationOf(child(2), 1))
  const transaction = await one.database('p').beginTransaction(one.context(), { mode: 'readWrite' })
  await one.database('p').lookup(one.context(), { keys: [child(3)], read: { transaction } })
  const all = answers(one, [
    mutationOf(root, 1),
    mutationOf(child(1), 2, 'insert'),
    mutationOf(child(1), 3, 'insert'),
    mutationOf(child(1), 4, 'update'),
    mutationOf(child(2), undefined),
    mutationOf(child(2), 5, 'update'),
    mutationOf(child(2), undefined),
    mutationOf(child(3), 6),
    mutationOf(child(3), 6),
  ])
  const conflict = commit(one, mutationOf(root, 7), transaction).catch((error) => error.code)
  expect(await all).toEqual([true, true, 'ALREADY_EXISTS', true, true, 'NOT_FOUND', true, true, true])
  expect(await conflict).toBe('ABORTED')
  expect(await valuesAt(two, [root, child(1), child(2), child(3)])).toEqual([1, 4, 6])
  expect((await two.check()).problems).toEqual([])
  await close()
})

test('when the append of a turn is lost, each of its commits is decided anew', async () => {
  let interrupt: (() => Promise<unknown>) | undefined
  const { one, two, close } = await openTwo(async (effect) => {
    const first = interrupt
    interrupt = undefined
    await first?.()
    return effect()
  })
  interrupt = () => commit(two, mutationOf(child(1), 9, 'insert'))
  const all = answers(one, [
    mutationOf(child(1), 1, 'insert'),
    mutationOf(child(1), 2, 'insert'),
    mutationOf(root, 3),
    mutationOf(child(1), 4, 'update'),
  ])
  expect(await all).toEqual(['ALREADY_EXISTS', 'ALREADY_EXISTS', true, true])
  expect(await valuesAt(two, [root, child(1)])).toEqual([3, 4])
  await close()
})

test.each([
  ['has taken effect', true],
  ['has not', false],
])('an append of several commits whose answer is lost, and that %s, is made once', async (_, takesEffect) => {
  let isLost = false
  const { one, two, appends, close } = await openTwo((effect) => {
    if (!isLost) return effect()
    isLost = false
    if (takesEffect) effect()
    throw new OutcomeUnknown('by the wish of this test')
  })
  await commit(one, mutationOf(root, 1))
  isLost = true
  const before = appends()
  const all = answers(one, [mutationOf(child(1), 1, 'insert'), mutationOf(child(2), 2, 'insert')])
  expect(await all).toEqual([true, true])
  // Refused, and appended again.
  expect(appends() - before).toBe(takesEffect ? 1 : 3)
  expect(await valuesAt(two, [child(1), child(2)])).toEqual([1, 2])
  await close()
})

type Steps = ((effect: () => unknown) => unknown)[]

/** Holds an append until the commits that were called meanwhile wait for the next turn. */
const whileOthersGather = async (effect: () => unknown): Promise<unknown> => {
  for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate)
  return effect()
}

/** Begins a transaction that reads an entity. */
const reading = async (engine: Engine, key: Key): Promise<Uint8Array> => {
  const database = engine.database('p')
  const transaction = await database.beginTransaction(engine.context(), { mode: 'readWrite' })
  await database.lookup(engine.context(), { keys: [key], read: { transaction } })
  return transaction
}

test('an answer that rests on a record of its turn is not given when the append fails', async () => {
  const steps: Steps = []
  const append = (effect: () => unknown) => steps.shift()?.(effect) ?? effect()
  const { one, two, close } = await openTwo(append, { groupBytesMax: 20_000 })
  const text = excluded(string('x'.repeat(12_000)))
  const large = (id: number): Mutation => ({ operation: 'upsert', entity: entity(child(id), property('text', text)) })
  const transaction = await reading(one, child(1))
  steps.push(whileOthersGather, () => {
    throw new DatastoreError('UNAVAILABLE', 'by the wish of this test')
  })
  const first = commit(one, mutationOf(root, 1))
  while (steps.length > 1) await new Promise(setImmediate)
  // The group has room for one of the large ones, and the transaction has read the first.
  const others = [commit(one, large(1)), commit(one, large(2)), commit(one, mutationOf(child(3), 3), transaction)]
  expect(await outcomes([first, ...others])).toEqual([true, 'UNAVAILABLE', true, true])
  expect(await valuesAt(two, [root, child(3)])).toEqual([1, 3])
  await close()
})

/** Transactions that have each read one of these entities, in a group whose floor is above their moments. */
const readingBelowFloor = async (engine: Engine, steps: Steps, keys: readonly Key[]): Promise<Uint8Array[]> => {
  const transactions: Uint8Array[] = []
  for (const key of keys) transactions.push(await reading(engine, key))
  // The search for the fate of the append raises the floor.
  steps.push(() => {
    throw new OutcomeUnknown('by the wish of this test')
  })
  await commit(engine, mutationOf(root, 1))
  return transactions
}

test.each([
  ['its own entity', (i: number) => child(i + 1), Array(12).fill(true)],
  ['the same entity', () => child(1), [true, ...Array(11).fill('ABORTED')]],
])('transactions below the floor of their group that each change %s share an append', async (_, keyOf, expected) => {
  const steps: Steps = []
  const { one, two, appends, close } = await openTwo((effect) => steps.shift()?.(effect) ?? effect())
  const keys = Array.from({ length: 12 }, (_, i) => keyOf(i))
  const transactions = await readingBelowFloor(one, steps, keys)
  steps.push(whileOthersGather)
  const before = appends()
  const first = commit(one, mutationOf(root, 2))
  const all = transactions.map((transaction, i) => commit(one, mutationOf(keys[i] as Key, i), transaction))
  expect(await outcomes([first, ...all])).toEqual([true, ...expected])
  expect(appends() - before).toBe(2)
  const changed = expected.flatMap((outcome, i) => (outcome === true ? [i] : []))
  expect(await valuesAt(two, changed.map(keyOf))).toEqual(changed)
  await close()
})

test('a transaction below the floor of a reset conflicts with it', async () => {
  const { one, two, close } = await openTwo()
  await commit(one, mutationOf(child(1), 1))
  const transaction = await reading(one, child(1))
  await two.reset()
  expect(await outcomes([commit(one, mutationOf(child(1), 2), transaction)])).toEqual(['ABORTED'])
  expect(await valuesAt(two, [child(1)])).toEqual([])
  await close()
})

test('commits of several groups get their turns in the order in which they came', async () => {
  const { one, close } = await openTwo(whileOthersGather)
  const done: number[] = []
  // Each finishes its second group after its answer.
  const both = async (id: number): Promise<void> => {
    const key: Key = { partition, path: [{ kind: 'F', id: BigInt(id) }] }
    const mutations = [mutationOf(root, id), mutationOf(key, id)]
    const singleUse = { mode: 'readWrite' } as const
    await one.database('p').commit(one.context(), { mode: 'transactional', singleUse, mutations })
    done.push(id)
  }
  const ids = [1, 2, 3, 4, 5, 6]
  await Promise.all(ids.map(both))
  expect(done).toEqual(ids)
  await close()
})

test('an append takes some 4 MiB of records, and a turn 64 commits', async () => {
  const { one, two, appends, close } = await openTwo()
  await commit(one, mutationOf(root, 1))
  // A larger entity is checked in several slices, so that the first commit would begin before the others are there.
  const text = excluded(string('x'.repeat(200_000)))
  const large = (id: number): Mutation => ({
    operation: 'upsert',
    entity: entity(child(id), property('v', integer(1)), property('text', text)),
  })
  let before = appends()
  const ids = Array.from({ length: 40 }, (_, i) => i + 1)
  expect(await answers(one, ids.map(large))).toEqual(Array(40).fill(true))
  expect(appends() - before).toBe(2)
  before = appends()
  expect(
    await answers(
      one,
      Array.from({ length: 130 }, (_, i) => mutationOf(root, i)),
    ),
  ).toEqual(Array(130).fill(true))
  expect(appends() - before).toBe(3)
  expect(await valuesAt(two, [root, child(9)])).toEqual([129, 1])
  await close()
})

test('a transaction that looked up several entities together conflicts with a change of any of them', async () => {
  const { one, two, close } = await openTwo()
  const keys = [child(1), child(2)]
  const transaction = await one.database('p').beginTransaction(one.context(), { mode: 'readWrite' })
  await one.database('p').lookup(one.context(), { keys, read: { transaction } })
  await commit(two, mutationOf(child(2), 1))
  expect(await outcomes([commit(one, mutationOf(child(1), 2), transaction)])).toEqual(['ABORTED'])
  await close()
})
