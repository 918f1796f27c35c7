import { beforeEach, describe, expect, test } from 'vitest'
import { mutationOf, storedValue, worldKeys } from '../../test/property/log-world.ts'
import type { Database } from '../database/database.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import type { DatastoreError } from '../errors.ts'
import type { Key } from '../model/key.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import type { ConcurrencyMode } from './transaction.ts'

const [root, first] = worldKeys
/** An entity of another group. */
const other: Key = { partition: root.partition, path: [{ kind: 'B', id: 1n }] }

let clock: VirtualClock
let engine: Engine
let database: Database

async function use(mode: 'firestore' | 'legacy', concurrency?: ConcurrencyMode): Promise<void> {
  clock = new VirtualClock()
  engine = await openEngine({ scheduler: clock, mode, apply: { type: 'immediate' } })
  database = engine.database('p')
  if (concurrency !== undefined) database.configure({ concurrency })
}

async function begin(
  mode: 'readWrite' | 'readOnly' = 'readWrite',
  previousTransaction?: Uint8Array,
): Promise<Uint8Array> {
  return database.beginTransaction(engine.context(), {
    mode,
    ...(previousTransaction === undefined ? {} : { previousTransaction }),
  })
}

async function get(key: Key, transaction?: Uint8Array): Promise<number | undefined> {
  const read = transaction === undefined ? {} : { read: { transaction } }
  const { found } = await database.lookup(engine.context(), { keys: [key], ...read })
  return found[0] === undefined ? undefined : storedValue(found[0].image.properties)
}

async function commit(
  transaction: Uint8Array | undefined,
  ...writes: readonly [Key, number | undefined][]
): Promise<void> {
  const mutations = writes.map(([key, value]) => mutationOf(key, value))
  await database.commit(
    engine.context(),
    transaction === undefined
      ? { mode: 'nonTransactional', mutations }
      : { mode: 'transactional', transaction, mutations },
  )
}

/** How work ends: the code of its error, or `ok`. A verb may throw at once, so it is called here. */
async function ending(work: Promise<unknown> | (() => unknown)): Promise<string> {
  try {
    await (typeof work === 'function' ? work() : work)
    return 'ok'
  } catch (error) {
    return (error as DatastoreError).code
  }
}

describe('a pessimistic transaction', () => {
  beforeEach(() => use('firestore'))

  test('keeps a writer waiting until it ends', async () => {
    await commit(undefined, [first, 1])
    const reader = await begin()
    expect(await get(first, reader)).toBe(1)
    let written = false
    const writing = commit(undefined, [first, 2]).then(() => {
      written = true
    })
    await clock.advance(1000)
    expect(written).toBe(false)
    await commit(reader)
    await writing
    expect(await get(first)).toBe(2)
  })

  test('makes a writer give up after the lock timeout, with the key and the holder in the message', async () => {
    const reader = await begin()
    await get(first, reader)
    const writing = Promise.resolve(commit(undefined, [first, 2])).catch((error: DatastoreError) => error)
    await clock.advance(2001)
    const error = await writing
    expect(error).toMatchObject({ code: 'ABORTED' })
    expect((error as DatastoreError).message).toMatch(/G:"g"\/A:1.*transaction \d+.*2000 ms/)
    expect(await get(first)).toBe(undefined)
  })

  test('that expires while a writer waits for it lets the writer through at that moment', async () => {
    const reader = await begin()
    await get(first, reader)
    await clock.advance(59_500)
    const writing = ending(() => commit(undefined, [first, 2]))
    await clock.advance(501)
    expect(await writing).toBe('ok')
    expect(await ending(() => get(first, reader))).toBe('INVALID_ARGUMENT')
  })

  test('that is used while a writer waits for it lives on', async () => {
    const reader = await begin()
    await get(first, reader)
    await clock.advance(59_500)
    const writing = ending(() => commit(undefined, [first, 2]))
    await clock.advance(100)
    await get(first, reader)
    await clock.advance(2000)
    expect(await writing).toBe('ABORTED')
    expect(await get(first, reader)).toBe(undefined)
  })

  test('that expired holds up no reader behind the writer that waited for it', async () => {
    const [left, reader] = [await begin(), await begin()]
    await get(first, left)
    await clock.advance(59_500)
    await get(other, reader)
    const writing = ending(() => commit(undefined, [first, 2]))
    const reading = get(first, reader)
    await clock.advance(501)
    expect(await writing).toBe('ok')
    expect(await reading).toBe(2)
  })

  test('that was left alone ends with the next commit, of whatever', async () => {
    await get(first, await begin())
    await clock.advance(60_001)
    await commit(undefined, [other, 1])
    expect(engine.openTransactions).toBe(0)
  })

  test('does not keep a writer waiting on rows that it has not read', async () => {
    const reader = await begin()
    await get(first, reader)
    await commit(undefined, [other, 1])
    expect(await get(other)).toBe(1)
  })

  test('lets a writer that waits already go first, so that readers cannot starve it (waiting-writers/Q1)', async () => {
    await commit(undefined, [first, 1])
    const [before, after] = [await begin(), await begin()]
    await get(first, before)
    const writing = commit(undefined, [first, 2])
    const reading = get(first, after)
    await commit(before)
    await writing
    expect(await reading).toBe(2)
  })

  test('goes on reading what a writer waits for when it is what the writer waits for (waiting-writers/Q2)', async () => {
    const reader = await begin()
    await get(first, reader)
    const writing = commit(undefined, [first, 2], [other, 2])
    expect(await get(other, reader)).toBe(undefined)
    await commit(reader)
    await writing
    expect(await get(other)).toBe(2)
  })

  test('of two that read and want to write the younger is aborted at once', async () => {
    const [older, younger] = [await begin(), await begin()]
    await get(first, older)
    await get(first, younger)
    const olderEnds = ending(commit(older, [first, 1]))
    expect(await ending(commit(younger, [first, 2]))).toBe('ABORTED')
    expect(await olderEnds).toBe('ok')
    expect(await get(first)).toBe(1)
  })

  test('keeps its rank when it is retried, so that it gets through in the end', async () => {
    const [older, younger] = [await begin(), await begin()]
    await get(first, older)
    await get(first, younger)
    const olderEnds = ending(commit(older, [first, 1]))
    await ending(commit(younger, [first, 2]))
    await olderEnds
    const [retried, third] = [await begin('readWrite', younger), await begin()]
    await get(other, third)
    await get(other, retried)
    const thirdEnds = ending(commit(third, [other, 3]))
    expect(await ending(commit(retried, [other, 2]))).toBe('ok')
    expect(await thirdEnds).toBe('ABORTED')
  })

  test('whose read is answered ABORTED holds nothing any more (transactions/X2)', async () => {
    const [older, reader] = [await begin(), await begin()]
    await get(first, older)
    await get(other, reader)
    database.configure({ lockTimeoutMs: 9000 })
    const writing = ending(() => commit(undefined, [first, 2]))
    database.configure({ lockTimeoutMs: 1000 })
    const reading = ending(() => get(first, reader))
    await clock.advance(1001)
    expect(await reading).toBe('ABORTED')
    await commit(undefined, [other, 1])
    expect(await ending(() => get(other, reader))).toBe('ABORTED')
    await database.rollback(engine.context(), older)
    expect(await writing).toBe('ok')
  })

  test('that a failing read began is gone with it', async () => {
    const reader = await begin()
    await get(first, reader)
    database.configure({ lockTimeoutMs: 9000 })
    const writing = ending(() => commit(undefined, [first, 2]))
    database.configure({ lockTimeoutMs: 1000 })
    const reading = ending(() =>
      database.lookup(engine.context(), { keys: [first], read: { newTransaction: { mode: 'readWrite' } } }),
    )
    await clock.advance(1001)
    expect(await reading).toBe('ABORTED')
    expect(engine.openTransactions).toBe(1)
    await database.rollback(engine.context(), reader)
    expect(await writing).toBe('ok')
  })

  test('is released by rollback, and a second rollback is harmless', async () => {
    const reader = await begin()
    await get(first, reader)
    await database.rollback(engine.context(), reader)
    await database.rollback(engine.context(), reader)
    await commit(undefined, [first, 2])
    expect(await ending(get(first, reader))).toBe('INVALID_ARGUMENT')
  })

  test('expires after 60 s without use, and after 270 s in all', async () => {
    const idle = await begin()
    await get(first, idle)
    await clock.advance(60_001)
    expect(await ending(get(first, idle))).toBe('INVALID_ARGUMENT')
    const busy = await begin()
    for (let i = 0; i < 5; i++) {
      await clock.advance(50_000)
      expect(await ending(get(first, busy))).toBe('ok')
    }
    await clock.advance(20_001)
    expect(await ending(commit(busy, [first, 1]))).toBe('INVALID_ARGUMENT')
  })

  test('holds nothing any more once it has expired', async () => {
    const reader = await begin()
    await get(first, reader)
    await clock.advance(60_001)
    await commit(undefined, [first, 2])
    expect(await get(first)).toBe(2)
  })

  test('does not see its own writes, which arrive only with the commit, nor commits twice', async () => {
    const writer = await begin()
    await get(first, writer)
    await commit(writer, [first, 1])
    expect(await ending(commit(writer, [first, 2]))).toBe('INVALID_ARGUMENT')
    expect(await get(first)).toBe(1)
  })
})

describe('an optimistic transaction', () => {
  beforeEach(() => use('firestore', 'optimistic'))

  test('goes on seeing what it saw first, and fails at its commit when that has changed', async () => {
    await commit(undefined, [first, 1], [other, 1])
    const reader = await begin()
    expect(await get(first, reader)).toBe(1)
    await commit(undefined, [first, 2], [other, 2])
    expect(await get(other, reader)).toBe(1)
    expect(await ending(commit(reader, [root, 1]))).toBe('ABORTED')
    expect(await get(root)).toBe(undefined)
  })

  test('does not mind changes of other entities of the group', async () => {
    const reader = await begin()
    await get(first, reader)
    await commit(undefined, [root, 1])
    expect(await ending(commit(reader, [first, 1]))).toBe('ok')
  })
})

describe.each(['firestore', 'legacy'] as const)('a transaction without locks, in mode %s', (mode) => {
  beforeEach(() => use(mode, mode === 'firestore' ? 'optimistic' : 'optimisticWithEntityGroups'))

  async function insert(transaction: Uint8Array): Promise<string> {
    const mutations = [mutationOf(first, 2, 'insert')]
    return ending(() => database.commit(engine.context(), { mode: 'transactional', transaction, mutations }))
  }

  test('is told of the conflict when what it inserts was inserted since it looked', async () => {
    const reader = await begin()
    expect(await get(first, reader)).toBe(undefined)
    await commit(undefined, [first, 1])
    expect(await insert(reader)).toBe('ABORTED')
  })

  test('is told that the entity exists when nothing has changed since it looked', async () => {
    await commit(undefined, [first, 1])
    const reader = await begin()
    expect(await get(first, reader)).toBe(1)
    expect(await insert(reader)).toBe('ALREADY_EXISTS')
  })
})

describe('a transaction with entity groups', () => {
  beforeEach(() => use('legacy'))

  test('fails when another entity of a group that it read was written', async () => {
    const reader = await begin()
    await get(first, reader)
    await commit(undefined, [root, 1])
    expect(await ending(commit(reader, [first, 1]))).toBe('ABORTED')
  })

  test('blind writes both go through', async () => {
    const [one, two] = [await begin(), await begin()]
    await commit(one, [first, 1])
    expect(await ending(commit(two, [first, 2]))).toBe('ok')
  })

  test('refuses a 26th entity group, read or written', async () => {
    const groups = Array.from(
      { length: 26 },
      (_, i): Key => ({ partition: root.partition, path: [{ kind: 'B', id: BigInt(i + 1) }] }),
    )
    const reader = await begin()
    for (const key of groups.slice(0, 25)) await get(key, reader)
    expect(await ending(get(groups[25] as Key, reader))).toBe('INVALID_ARGUMENT')
    const writer = await begin()
    expect(await ending(commit(writer, ...groups.map((key): [Key, number] => [key, 1])))).toBe('INVALID_ARGUMENT')
  })

  test.each(['readWrite', 'readOnly'] as const)('refuses a query without an ancestor when %s', async (mode) => {
    const reader = await begin(mode)
    const query = { partition: root.partition, kind: 'A', projection: [], order: [], distinctOn: [], offset: 0 }
    const asked = (): unknown => database.runQuery(engine.context(), { query, read: { transaction: reader } })
    expect(await ending(asked)).toBe('INVALID_ARGUMENT')
  })
})

describe('a read-only transaction', () => {
  beforeEach(() => use('firestore'))

  test('sees one instant, makes no writer wait, and can be committed', async () => {
    await commit(undefined, [first, 1])
    const reader = await begin('readOnly')
    expect(await get(first, reader)).toBe(1)
    await commit(undefined, [first, 2], [other, 2])
    expect(await get(first, reader)).toBe(1)
    expect(await get(other, reader)).toBe(undefined)
    expect(await ending(commit(reader))).toBe('ok')
  })

  test('refuses writes', async () => {
    const reader = await begin('readOnly')
    expect(await ending(commit(reader, [first, 1]))).toBe('INVALID_ARGUMENT')
  })

  test('is nothing that another transaction could retry', async () => {
    const reader = await begin('readOnly')
    expect(await ending(() => begin('readWrite', reader))).toBe('INVALID_ARGUMENT')
    expect(await ending(commit(reader))).toBe('ok')
  })

  test('reads at the past moment that it was begun with', async () => {
    await commit(undefined, [first, 1])
    await clock.advance(10)
    const readTime = clock.nowMicros()
    await clock.advance(10)
    await commit(undefined, [first, 2])
    await commit(undefined, [first, undefined])
    const reader = await database.beginTransaction(engine.context(), { mode: 'readOnly', readTime })
    expect(await get(first, reader)).toBe(1)
    expect(await get(first)).toBe(undefined)
  })
})

describe('a read at a past moment', () => {
  beforeEach(() => use('firestore'))

  test('gives entities and query results of then', async () => {
    await commit(undefined, [first, 1])
    await clock.advance(10)
    const readTime = clock.nowMicros()
    await clock.advance(10)
    await commit(undefined, [first, 3], [worldKeys[2] as Key, 1])
    const { found } = await database.lookup(engine.context(), { keys: [first], read: { readTime } })
    expect(found.map(({ image }) => storedValue(image.properties))).toEqual([1])
    const query = { partition: root.partition, kind: 'A', projection: [], order: [], distinctOn: [], offset: 0 }
    const { results } = await database.runQuery(engine.context(), { query, read: { readTime } })
    expect(results.map(({ image }) => image && storedValue(image.properties))).toEqual([1])
  })

  test('is refused in the future', async () => {
    const readTime = clock.nowMicros() + 1_000_000n
    const asked = (): unknown => database.lookup(engine.context(), { keys: [first], read: { readTime } })
    expect(await ending(asked)).toBe('INVALID_ARGUMENT')
  })

  test('is refused when records after it are gone', async () => {
    engine = await openEngine({ scheduler: clock, retention: { ageMicros: 1_000_000n, bytesMax: 1 << 20 } })
    database = engine.database('p')
    await commit(undefined, [first, 1])
    const readTime = clock.nowMicros() - 1n
    await clock.advance(2000)
    await commit(undefined, [first, 2])
    await commit(undefined, [first, 3])
    const asked = (): unknown => database.lookup(engine.context(), { keys: [first], read: { readTime } })
    expect(await ending(asked)).toBe('FAILED_PRECONDITION')
  })
})

describe('a read that opens a transaction', () => {
  beforeEach(() => use('firestore'))

  test('answers with its name, by which it is committed', async () => {
    const { transaction } = await database.lookup(engine.context(), {
      keys: [first],
      read: { newTransaction: { mode: 'readWrite' } },
    })
    expect(transaction).toBeDefined()
    expect(await ending(commit(transaction, [first, 1]))).toBe('ok')
  })
})

describe('the name of a transaction', () => {
  beforeEach(() => use('firestore'))

  test('is refused when it does not decode, when it is unknown, and in another database', async () => {
    expect(await ending(get(first, Uint8Array.of(1, 2, 3)))).toBe('INVALID_ARGUMENT')
    expect(await ending(get(first, Uint8Array.of(0x11, 1, 0, 0, 0, 0, 0, 0, 0)))).toBe('INVALID_ARGUMENT')
    const elsewhere = await engine.database('p', 'other').beginTransaction(engine.context(), { mode: 'readWrite' })
    expect(await ending(get(first, elsewhere))).toBe('INVALID_ARGUMENT')
  })
})
