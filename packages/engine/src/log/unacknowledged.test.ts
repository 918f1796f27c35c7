/** While a batch is on its way to the store, no answer reveals it (commit-log/L3), and what is applied keeps its order (apply/A1). */
import { beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest'
import { mutationOf, storedValue, worldKeys } from '../../test/property/log-world.ts'
import { HeldKv } from '../../test/support/held-kv.ts'
import type { ReadOptions } from '../database/api.ts'
import type { Database } from '../database/database.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import type { DatastoreError } from '../errors.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { rowsOf } from '../tables/rows.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { CommitLog } from './commit-log.ts'
import { CommitVersions } from './commit-version.ts'

const [root, first] = worldKeys

let kv: HeldKv
let engine: Engine
let database: Database

beforeEach(async () => {
  vi.restoreAllMocks()
  kv = new HeldKv()
  engine = await openEngine({ kv, scheduler: new VirtualClock() })
  database = engine.database('p')
  await commit(root, 1)
})

async function commit(
  key: typeof root,
  value: number | undefined,
  operation?: 'insert' | 'update' | 'upsert',
): Promise<void> {
  const mutations = [mutationOf(key, value, operation)]
  await database.commit(engine.context(), { mode: 'nonTransactional', mutations })
}

/** The outcome of a promise; `undefined` while it is open. */
function watch(work: Promise<unknown>): { ending: string | undefined; done: Promise<void> } {
  const seen: { ending: string | undefined; done: Promise<void> } = { ending: undefined, done: Promise.resolve() }
  seen.done = work.then(
    () => {
      seen.ending = 'ok'
    },
    (error: DatastoreError) => {
      seen.ending = error.code
    },
  )
  return seen
}

async function turns(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
}

describe('while a batch is on its way', () => {
  test('a commit that finds nothing to change because of it is acknowledged when it is written', async () => {
    kv.hold()
    const writing = watch(commit(first, 1))
    const same = watch(commit(first, 1))
    await turns()
    expect([writing.ending, same.ending]).toEqual([undefined, undefined])
    kv.land()
    await same.done
    expect([writing.ending, same.ending]).toEqual(['ok', 'ok'])
  })

  test.each([
    ['ALREADY_EXISTS', 1, 2, 'insert'],
    ['NOT_FOUND', undefined, 2, 'update'],
  ] as const)('%s because of it is answered when it is written', async (code, before, value, operation) => {
    await commit(first, before === undefined ? 1 : undefined)
    kv.hold()
    const writing = watch(commit(first, before))
    const refused = watch(commit(first, value, operation))
    await turns()
    expect([writing.ending, refused.ending]).toEqual([undefined, undefined])
    kv.land()
    await refused.done
    expect([writing.ending, refused.ending]).toEqual(['ok', code])
  })

  test('a refusal because of it becomes UNAVAILABLE when it fails: what was seen never came to be', async () => {
    kv.hold()
    const writing = watch(commit(first, 1))
    const refused = watch(commit(first, 2, 'insert'))
    await turns()
    kv.lose()
    await refused.done
    expect([writing.ending, refused.ending]).toEqual(['UNAVAILABLE', 'UNAVAILABLE'])
  })

  test('a conflict with it is answered when it is written', async () => {
    database.configure({ concurrency: 'optimistic' })
    const transaction = await database.beginTransaction(engine.context(), { mode: 'readWrite' })
    await database.lookup(engine.context(), { keys: [first], read: { transaction } })
    kv.hold()
    const writing = watch(commit(first, 1))
    const mutations = [mutationOf(root, 5)]
    const loser = watch(
      Promise.resolve(database.commit(engine.context(), { mode: 'transactional', transaction, mutations })),
    )
    await turns()
    expect([writing.ending, loser.ending]).toEqual([undefined, undefined])
    kv.land()
    await loser.done
    expect([writing.ending, loser.ending]).toEqual(['ok', 'ABORTED'])
  })
})

describe('entities of a large batch are kept for later commits some in a turn (commit-log/L4)', () => {
  const keys = Array.from({ length: 10_000 }, (_, i): typeof root => ({
    ...root,
    path: [{ kind: 'G', id: BigInt(i + 9) }],
  }))
  const last = keys.at(-1) as typeof root
  let kept: MockInstance<CommitLog['keepInFlight']>

  /** Begins to commit all entities, up to the writing of their batch. */
  async function writing(): Promise<ReturnType<typeof watch>> {
    kept = vi.spyOn(CommitLog.prototype, 'keepInFlight')
    kv.hold()
    const mutations = keys.map((key) => mutationOf(key, 1))
    const seen = watch(Promise.resolve(database.commit(engine.context(), { mode: 'nonTransactional', mutations })))
    while (kv.waiting === 0) await new Promise((resolve) => setImmediate(resolve))
    return seen
  }

  test('a commit that begins meanwhile meets all of them', async () => {
    const seen = await writing()
    const refused = watch(commit(last, 2, 'insert'))
    while (kept.mock.calls.length < 3) await turns()
    await turns()
    expect([seen.ending, refused.ending]).toEqual([undefined, undefined])
    kv.land()
    await Promise.all([seen.done, refused.done])
    expect([seen.ending, refused.ending]).toEqual(['ok', 'ALREADY_EXISTS'])
    expect(kept).toHaveBeenCalledTimes(3)
  })

  test('none of them is kept when the batch fails meanwhile', async () => {
    const seen = await writing()
    expect(kept.mock.calls.length).toBeLessThan(3)
    kv.lose()
    kv.land()
    await seen.done
    expect(seen.ending).toBe('UNAVAILABLE')
    await commit(last, 2, 'insert')
    const { found } = await database.lookup(engine.context(), { keys: [last] })
    expect(found.map(({ image }) => storedValue(image.properties))).toEqual([2])
  })
})

test.each<[string, () => () => unknown]>([
  [
    'its policy',
    () => {
      database.configure({ applyPolicy: { type: 'manual' } })
      return () => database.configure({ applyPolicy: { type: 'immediate' } })
    },
  ],
  ['a hold', () => engine.inspector.hold({ kind: 'A' })],
])(
  'apply/A1: a commit is applied behind one of its group that is on its way when %s no longer keeps it waiting',
  async (_, wait) => {
    await commit(first, 1)
    const goOn = wait()
    kv.hold()
    const before = commit(first, 2)
    await turns()
    goOn()
    const after = commit(first, 3)
    await turns()
    kv.land()
    await Promise.all([before, after])
    const { found } = await database.lookup(engine.context(), { keys: [first] })
    expect(found.map(({ image }) => storedValue(image.properties))).toEqual([3])
    expect(await engine.check()).toMatchObject({ pending: [], problemCount: 0 })
  },
)

test('a query takes index rows and entities of one moment, though a commit lands between its reads of them', async () => {
  await commit(first, 1)
  kv.hold({ scans: true })
  const querying = database.runQuery(engine.context(), {
    query: {
      partition: first.partition,
      kind: 'A',
      projection: [],
      filter: { type: 'property', property: 'v', operator: 'equal', value: { type: 'integer', value: 1n } },
      order: [],
      distinctOn: [],
      offset: 0,
    },
  })
  await turns()
  const writing = commit(first, 2)
  await turns()
  expect(kv.waiting).toBe(2)
  kv.land()
  const { results } = await querying
  await writing
  expect(results.map(({ image }) => image && storedValue(image.properties))).toEqual([1])
})

test('a strong read that rolls forward while the store is reset is answered, and leaves nothing behind', async () => {
  database.configure({ applyPolicy: { type: 'manual' } })
  await commit(first, 1)
  const resetting = engine.reset()
  kv.hold()
  const reading = watch(Promise.resolve(database.lookup(engine.context(), { keys: [first] })))
  await turns()
  kv.land()
  await Promise.all([reading.done, resetting])
  expect(reading.ending).toBe('ok')
  expect(await engine.check()).toMatchObject({ entities: 0, indexRows: 0, logRecords: 0, pending: [], problemCount: 0 })
})

test('the log does not outgrow its bounds under commits of many groups', async () => {
  const bounded = new HeldKv()
  const small = await openEngine({
    kv: bounded,
    scheduler: new VirtualClock(),
    retention: { ageMicros: 3_600_000_000n, bytesMax: 4000 },
  })
  for (let round = 0; round < 30; round++) {
    const mutations = Array.from({ length: 25 }, (_, group) =>
      mutationOf({ partition: root.partition, path: [{ kind: 'G', name: `g${group}` }] }, round),
    )
    await small.database('p').commit(small.context(), {
      mode: 'transactional',
      singleUse: { mode: 'readWrite' },
      mutations,
    })
  }
  const rows = await bounded.scan(rowsOf('Log')).next(10_000)
  // The records of the last commit, and earlier ones that fit, which the next commit trims.
  expect(rows.length).toBeLessThan(3 * 25)
})

test('a read does not get the time of what it cannot see: a second read of that time sees the same (commit-version/V1)', async () => {
  const lookup = (readTime?: bigint) =>
    database.lookup(engine.context(), { keys: [first], ...(readTime === undefined ? {} : { read: { readTime } }) })
  kv.hold()
  const writing = commit(first, 1)
  await turns()
  const early = await lookup()
  const transaction = await database.beginTransaction(engine.context(), { mode: 'readOnly' })
  const inTransaction = await database.lookup(engine.context(), { keys: [first], read: { transaction } })
  kv.land()
  await writing
  for (const { found, readTime } of [early, inTransaction]) {
    expect(found).toEqual([])
    expect((await lookup(readTime)).found).toEqual([])
  }
  const late = await lookup()
  expect((await lookup(late.readTime)).found).toHaveLength(1)
})

test('reads of a transaction get the time of what it sees (commit-version/V1)', async () => {
  const read = (options: ReadOptions) => database.lookup(engine.context(), { keys: [first], read: options })
  for (const concurrency of ['optimistic', 'optimisticWithEntityGroups'] as const) {
    database.configure({ concurrency })
    for (const mode of ['readOnly', 'readWrite'] as const) {
      await commit(first, undefined)
      const transaction = await database.beginTransaction(engine.context(), { mode })
      await read({ transaction })
      await commit(first, 1)
      const second = await read({ transaction })
      expect(second.found).toEqual([])
      expect((await read({ readTime: second.readTime })).found).toEqual([])
    }
  }
})

describe('a transaction that reads while a commit waits', () => {
  const other = worldKeys.at(-1) ?? first
  const readAndLock = async () => {
    const transaction = await database.beginTransaction(engine.context(), { mode: 'readWrite' })
    await database.lookup(engine.context(), { keys: [other], read: { transaction } })
    return transaction
  }

  test('for older records of its groups keeps its lock', async () => {
    database.configure({ concurrency: 'pessimistic', applyPolicy: { type: 'manual' } })
    await commit(first, 1)
    database.configure({ applyPolicy: { type: 'immediate' } })
    kv.hold()
    const mutations = [mutationOf(first, 2), mutationOf(other, 2)]
    const waiting = watch(
      Promise.resolve(
        database.commit(engine.context(), { mode: 'transactional', singleUse: { mode: 'readWrite' }, mutations }),
      ),
    )
    await turns()
    const transaction = await readAndLock()
    kv.land()
    await turns()
    expect(waiting.ending).toBeUndefined()
    await database.commit(engine.context(), { mode: 'transactional', transaction, mutations: [] })
    await waiting.done
    expect(waiting.ending).toBe('ok')
  })

  test('for its turn keeps its lock', async () => {
    database.configure({ concurrency: 'pessimistic' })
    const { readTime } = await database.lookup(engine.context(), { keys: [root] })
    kv.hold()
    const writing = commit(first, 1)
    // A read of the past has the turn until nothing is being written.
    const past = database.lookup(engine.context(), { keys: [root], read: { readTime } })
    const waiting = watch(commit(other, 2))
    await turns()
    const transaction = await readAndLock()
    kv.land()
    await Promise.all([writing, past])
    await turns()
    expect(waiting.ending).toBeUndefined()
    await database.commit(engine.context(), { mode: 'transactional', transaction, mutations: [] })
    await waiting.done
    expect(waiting.ending).toBe('ok')
  })
})

test('a commit after a read in the same microsecond is later than the read (commit-version/V1)', async () => {
  const versions = await CommitVersions.open(new MemoryKv(), new VirtualClock())
  const read = versions.readTime()
  expect(versions.next()).toBe(read + 1n)
})
