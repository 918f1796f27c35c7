/** Calls beside a reset on disk, and after it, while LevelDB still has its rows. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import { afterAll, describe, expect, test } from 'vitest'
import { mutationOf } from '../../test/property/log-world.ts'
import type { TransactionOptions } from '../database/api.ts'
import type { Key, PartitionId } from '../model/key.ts'
import type { Query } from '../model/query.ts'
import type { KeyRange } from '../storage/kv.ts'
import { openLevelKv } from '../storage/level-kv.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { type Engine, openEngine } from './engine.ts'
import type { ResetScope } from './reset.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sixtables-beside-'))
  folders.push(folder)
  return folder
}

/** An engine on disk whose deletions of ranges do not end before `letGo()`. */
interface Held {
  readonly dir: string
  readonly engine: Engine
  /** Resolves when the rows are gone. */
  readonly gone: Promise<void>
  letGo(): void
}

/** No row is deleted by itself, however few they are: their ranges move (storage/areas.ts). */
const rowsDeletedMax = 0

async function openHeld(): Promise<Held> {
  const dir = newFolder()
  const kv = await openLevelKv({ dir, rowsDeletedMax })
  const [gone, tellGone] = later()
  const [over, letGo] = later()
  const deleteRanges = kv.deleteRanges.bind(kv)
  kv.deleteRanges = async (ranges: readonly KeyRange[]) => {
    await deleteRanges(ranges)
    tellGone()
    await over
  }
  // Time stands: no wait for a lock ends by its limit, however long the disk takes.
  return { dir, engine: await openEngine({ kv, scheduler: new VirtualClock() }), gone, letGo }
}

/** How many rows LevelDB has in a closed store's folder. */
async function rowsOnDisk(dir: string): Promise<number> {
  const level = new Level(dir)
  const { length } = await level.keys().all()
  await level.close()
  return length
}

function later(): readonly [promise: Promise<void>, resolve: () => void] {
  let resolve = (): void => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return [promise, resolve]
}

const gone: PartitionId = { projectId: 'p', databaseId: '', namespaceId: 'gone' }
const places: Readonly<Record<string, PartitionId>> = {
  gone,
  'another namespace': { ...gone, namespaceId: 'other' },
  'another database': { ...gone, databaseId: 'second' },
  'another project': { ...gone, projectId: 'q' },
}
const scopes: readonly (readonly [name: string, scope: ResetScope, stays: readonly string[]])[] = [
  ['a namespace', gone, ['another namespace', 'another database', 'another project']],
  ['a database', { projectId: 'p', databaseId: '' }, ['another database', 'another project']],
  ['a project', { projectId: 'p' }, ['another project']],
]

const keyOf = (partition: PartitionId, id: number): Key => ({ partition, path: [{ kind: 'A', id: BigInt(id) }] })
const databaseOf = (engine: Engine, { projectId, databaseId }: PartitionId) => engine.database(projectId, databaseId)

function put(engine: Engine, partition: PartitionId, id: number, context = engine.context()): Promise<unknown> {
  const mutations = [mutationOf(keyOf(partition, id), id)]
  return Promise.resolve(databaseOf(engine, partition).commit(context, { mode: 'nonTransactional', mutations }))
}

async function count(engine: Engine, partition: PartitionId): Promise<number> {
  const query: Query = {
    partition,
    kind: 'A',
    projection: [],
    filter: undefined,
    order: [{ property: 'v', direction: 'ascending' }],
    distinctOn: [],
    offset: 0,
  }
  const aggregations = [{ alias: 'n', operator: 'count' as const, upTo: undefined }]
  const answer = await databaseOf(engine, partition).runAggregationQuery(engine.context(), { query, aggregations })
  return Number((answer.values.get('n') as { value: bigint }).value)
}

const newIndex = (engine: Engine, partition: PartitionId) =>
  engine.createIndex(databaseOf(engine, partition), {
    kind: 'A',
    ancestor: false,
    properties: ['v', 'parity'].map((name) => ({ name, direction: 'ascending' as const })),
  })

/** Whether it has an answer by now; asked when others that began later have theirs. */
function watch(work: Promise<unknown>): { readonly isOver: boolean } {
  const state = { isOver: false }
  const over = (): void => {
    state.isOver = true
  }
  work.then(over, over)
  return state
}

async function fill(engine: Engine): Promise<void> {
  for (const place of Object.values(places)) for (let id = 1; id <= 5; id++) await put(engine, place, id)
}

describe.each(scopes)('beside a reset of %s on disk', (_, scope, stays) => {
  test('reset/X2: writes in the scope land at once, while LevelDB still has the rows; a crash then changes nothing', async () => {
    const dir = newFolder()
    const engine = await openEngine({ kv: await openLevelKv({ dir, rowsDeletedMax }) })
    await fill(engine)
    const reading = count(engine, gone)
    await engine.reset(scope)
    await put(engine, gone, 7)
    expect([0, 5]).toContain(await reading)
    const copies: string[] = []
    for (let i = 0; i < 4; i++) {
      const copy = newFolder()
      cpSync(dir, copy, { recursive: true })
      copies.push(copy)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await engine.tidy()
    await engine.close()
    const rows = await rowsOnDisk(dir)
    for (const each of [...copies, dir]) {
      const again = await openEngine({ kv: await openLevelKv({ dir: each, rowsDeletedMax }) })
      expect(await count(again, gone)).toBe(1)
      for (const name of stays) expect(await count(again, places[name] as PartitionId), name).toBe(5)
      expect(await again.check()).toMatchObject({ problemCount: 0 })
      await again.tidy()
      await again.close()
      expect(await rowsOnDisk(each)).toBeLessThanOrEqual(rows)
    }
  })

  test('reset/X2: a commit that has begun already, of a transaction too, is made after it', async () => {
    const { engine, gone: deleted, letGo } = await openHeld()
    await fill(engine)
    const options: TransactionOptions = { mode: 'readWrite' }
    const transaction = await databaseOf(engine, gone).beginTransaction(engine.context(), options)
    // While this one has the turn, the reset and what comes behind it stand in line for theirs.
    const before = newIndex(engine, places['another project'] as PartitionId)
    const reset = engine.reset(scope)
    const plain = put(engine, gone, 7)
    const mutations = [mutationOf(keyOf(gone, 8), 8)]
    const ofTransaction = Promise.resolve(
      databaseOf(engine, gone).commit(engine.context(), { mode: 'transactional', transaction, mutations }),
    )
    const watched = [plain, ofTransaction].map(watch)
    await deleted
    await new Promise((resolve) => setImmediate(resolve))
    expect(watched.map(({ isOver }) => isOver)).toEqual([false, false])
    letGo()
    await Promise.all([before, reset, plain, ofTransaction])
    expect(await count(engine, gone)).toBe(2)
    expect(await engine.check()).toMatchObject({ problemCount: 0 })
    await engine.close()
  })

  test('reset/X2: a commit that waited for a lock waits on, and no reader waits for it afterwards', async () => {
    const { engine, gone: deleted, letGo } = await openHeld()
    engine.configure({ concurrency: 'pessimistic' })
    await fill(engine)
    const readInTransaction = async (): Promise<{ transaction: Uint8Array; found: number }> => {
      const database = databaseOf(engine, gone)
      const transaction = await database.beginTransaction(engine.context(), { mode: 'readWrite' })
      const { found } = await database.lookup(engine.context(), { keys: [keyOf(gone, 1)], read: { transaction } })
      return { transaction, found: found.length }
    }
    await readInTransaction()
    const mutations = [mutationOf(keyOf(gone, 1), 99)]
    const blocked = Promise.resolve(
      databaseOf(engine, gone).commit(engine.context(), { mode: 'nonTransactional', mutations }),
    )
    const reset = engine.reset(scope)
    await deleted
    letGo()
    await Promise.all([reset, blocked])
    const { transaction, found } = await readInTransaction()
    expect(found).toBe(1)
    await databaseOf(engine, gone).rollback(engine.context(), transaction)
    await engine.close()
  })
})

test('resets go one after the other, and closing waits for them', async () => {
  const { engine, gone: deleted, letGo, dir } = await openHeld()
  await fill(engine)
  const order: string[] = []
  const first = engine.reset(gone).then(() => order.push('first'))
  const second = engine.reset({ projectId: 'q' }).then(() => order.push('second'))
  await deleted
  expect(await count(engine, places['another project'] as PartitionId)).toBe(5)
  const closed = engine.close().then(() => order.push('closed'))
  await new Promise((resolve) => setImmediate(resolve))
  expect(order).toEqual([])
  letGo()
  await Promise.all([first, second, closed])
  expect(order.indexOf('first')).toBeLessThan(order.indexOf('second'))
  const again = await openEngine({ kv: await openLevelKv({ dir }) })
  expect(await count(again, gone)).toBe(0)
  expect(await count(again, places['another project'] as PartitionId)).toBe(0)
  expect(await count(again, places['another namespace'] as PartitionId)).toBe(5)
  await again.close()
})
