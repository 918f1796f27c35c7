/**
 * Random commands on an engine in memory, with snapshots, and restores of any of them. After a restore:
 *
 *   engine-snapshot/S1  Every read answers what it would have answered when the snapshot was taken: all rows of the store,
 *                       the pending records, the checker, and a query that needs a composite index.
 *
 * Commit versions rise, id counters are as they were, and transactions from before the restore have ended.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import type { CommitResult } from '../../src/database/api.ts'
import { encodeKey, encodeProperties } from '../../src/encoding/entity-codec.ts'
import { type Engine, openEngine } from '../../src/engine/engine.ts'
import type { EngineSnapshot } from '../../src/engine/engine-snapshot.ts'
import { memoryStore } from '../../src/engine/open-kv.ts'
import type { Key } from '../../src/model/key.ts'
import type { Query } from '../../src/model/query.ts'
import type { OnDemandRows } from '../../src/on-demand/on-demand-rows.ts'
import { MemoryKv } from '../../src/storage/memory-kv.ts'
import { AsyncKv } from '../../src/testing/async-kv.ts'
import { atOnce } from '../../src/testing/at-once.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const everything = { start: '', end: '\xff' }

type Step =
  | { readonly do: 'put'; readonly id: number; readonly n: number; readonly database: string }
  | { readonly do: 'insert' | 'allocate' | 'index' | 'query' | 'snapshot' | 'begin' }
  | { readonly do: 'delete'; readonly id: number }
  | { readonly do: 'policy'; readonly policy: 'immediate' | 'manual' }
  | { readonly do: 'release'; readonly milestone: 'A' | 'B'; readonly id: number }
  | { readonly do: 'restore' | 'close'; readonly which: number }
  | { readonly do: 'pass'; readonly ms: number }

const id = fc.integer({ min: 1, max: 4 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('put' as const), id, n: id, database: fc.constantFrom('', 'd') }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('insert', 'allocate', 'query', 'begin', 'index' as const) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), id }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('policy' as const), policy: fc.constantFrom('immediate', 'manual') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('release' as const), milestone: fc.constantFrom('A', 'B'), id }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('snapshot' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('restore' as const), which: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('close' as const), which: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 4000 }) }) },
) as fc.Arbitrary<Step>

function keyOf(id: number | undefined, databaseId = ''): Key {
  const last = id === undefined ? { kind: 'A' } : { kind: 'A', id: BigInt(id) }
  return { partition: { ...partition, databaseId }, path: [last] }
}

function entityOf(key: Key, n: number): Uint8Array {
  const bytes = encodeKey(key)
  const properties = encodeProperties(
    new Map([
      ['n', { type: 'integer', value: BigInt(n) }],
      ['even', { type: 'boolean', value: n % 2 === 0 }],
    ]),
  )
  return Buffer.concat([Buffer.from([0x0a, bytes.length]), bytes, properties])
}

const indexed: Query = {
  partition,
  kind: 'A',
  projection: [],
  filter: { type: 'property', property: 'even', operator: 'equal', value: { type: 'boolean', value: true } },
  order: [{ property: 'n', direction: 'descending' }],
  distinctOn: [],
  offset: 0,
}

const index = {
  kind: 'A',
  ancestor: false,
  properties: [
    { name: 'even', direction: 'ascending' },
    { name: 'n', direction: 'descending' },
  ],
} as const

class World {
  readonly kv: MemoryKv | OnDemandRows
  readonly clock: VirtualClock = new VirtualClock()
  readonly kept: { readonly snapshot: EngineSnapshot; readonly picture: unknown; closed: boolean }[] = []
  readonly tokens: Uint8Array[] = []
  version = 0n
  engine!: Engine

  constructor(kv: MemoryKv | OnDemandRows) {
    this.kv = kv
  }

  async run(step: Step): Promise<void> {
    const { engine } = this
    const database = engine.database('p')
    switch (step.do) {
      case 'put':
        return await this.commit(entityOf(keyOf(step.id, step.database), step.n), step.database)
      case 'insert':
        return await this.commit(entityOf(keyOf(undefined), 8))
      case 'delete':
        return await this.note(
          database.commit(engine.context(), {
            mode: 'nonTransactional',
            mutations: [{ operation: 'delete', key: keyOf(step.id) }],
          }),
        )
      case 'allocate':
        await database.allocateIds(engine.context(), [keyOf(undefined)])
        return
      case 'index':
        await engine.indexes.ensure(database, index)
        return
      case 'query':
        await database.runQuery(engine.context(), { query: indexed })
        return
      case 'begin':
        this.tokens.push(await database.beginTransaction(engine.context(), { mode: 'readOnly' }))
        return
      case 'policy':
        engine.configure({ applyPolicy: { type: step.policy } })
        return
      case 'release':
        await engine.inspector.release(keyOf(step.id), step.milestone)
        return
      case 'pass':
        return await this.clock.advance(step.ms)
      case 'snapshot': {
        const snapshot = await engine.snapshot()
        this.kept.push({ snapshot, picture: await this.picture(), closed: false })
        return
      }
      case 'close': {
        const kept = this.kept[step.which]
        if (kept === undefined) return
        kept.snapshot.close()
        kept.closed = true
        return
      }
      case 'restore':
        return await this.restore(step.which)
    }
  }

  async commit(entity: Uint8Array, databaseId = ''): Promise<void> {
    const context = this.engine.context()
    const mutations = [{ operation: 'upsert' as const, entity }]
    const committed = this.engine.database('p', databaseId).commit(context, { mode: 'nonTransactional', mutations })
    await this.note(committed)
  }

  /** Commit versions rise over a restore. */
  async note(committed: unknown): Promise<void> {
    const { mutationResults, indexUpdates } = (await committed) as CommitResult
    // What changes nothing is no commit, and answers the version that is there.
    if (indexUpdates === 0) return
    const version = mutationResults[0]?.version ?? 0n
    expect(version).toBeGreaterThan(this.version)
    this.version = version
  }

  async restore(which: number): Promise<void> {
    const kept = this.kept[which]
    if (kept === undefined) return
    if (kept.closed) {
      await expect(this.engine.restore(kept.snapshot)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
      return
    }
    await this.engine.restore(kept.snapshot)
    expect(await this.picture()).toEqual(kept.picture)
    for (const transaction of this.tokens.splice(0)) {
      const read = { keys: [keyOf(1)], read: { transaction } }
      const database = this.engine.database('p')
      await expect((async () => await database.lookup(this.engine.context(), read))()).rejects.toMatchObject({
        code: 'ABORTED',
      })
    }
    expect((await this.engine.check()).problems).toEqual([])
  }

  /** All rows, and what waits. */
  async picture(): Promise<unknown> {
    const scan = this.kv.scan(everything)
    const found = atOnce(scan.next(100_000))
    const rows = found.map(({ key, value }) => [key, Buffer.from(value).toString('latin1')])
    scan.close()
    return { rows, pending: await this.engine.inspector.pending() }
  }
}

describe('snapshots of an engine in memory', () => {
  test.each([
    ['all rows', () => new MemoryKv()],
    ['property indexes on demand', () => memoryStore()],
  ])('engine-snapshot/S1 holds over random commands, with %s', async (_, newKv) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
        const world = new World(newKv())
        world.engine = await openEngine({ kv: world.kv, scheduler: world.clock })
        for (const each of steps) await world.run(each)
        expect((await world.engine.check()).problems).toEqual([])
        await world.engine.close()
      }),
      { numRuns: runs(60) },
    )
  })

  test('what a query answers, and which ids are given, is as it was (engine-snapshot/S1)', async () => {
    const engine = await openEngine({ scheduler: new VirtualClock() })
    const database = engine.database('p')
    const context = engine.context()
    const put = async (id: number | undefined, n: number) =>
      await database.commit(context, {
        mode: 'nonTransactional',
        mutations: [{ operation: 'upsert', entity: entityOf(keyOf(id), n) }],
      })
    const look = async () => {
      const { results } = await database.runQuery(context, { query: indexed })
      const { found } = await database.lookup(context, { keys: [1, 2, 3, 4].map((id) => keyOf(id)) })
      return { results: results.map(({ key }) => key), found: found.map(({ key, image }) => ({ key, image })) }
    }
    await put(1, 2)
    await put(2, 4)
    // A counter that gave an id has a block of more in hand.
    await put(undefined, 3)
    await look()
    const before = await look()
    const snapshot = await engine.snapshot()
    const ids = []
    for (let i = 0; i < 3; i++) {
      await put(1, 6)
      await put(3, 8)
      await database.commit(context, { mode: 'nonTransactional', mutations: [{ operation: 'delete', key: keyOf(2) }] })
      const { mutationResults } = await put(undefined, 10)
      ids.push(mutationResults[0]?.key)
      expect(await look()).not.toEqual(before)
      await engine.restore(snapshot)
      expect(await look()).toEqual(before)
    }
    expect(ids[0]).toBeDefined()
    expect(ids).toEqual([ids[0], ids[0], ids[0]])
    await engine.close()
  })

  test('an index whose building a restore overtakes is given up, and one that the snapshot has unfinished is built', async () => {
    const engine = await openEngine({ scheduler: new VirtualClock() })
    const database = engine.database('p')
    const put = async (id: number) =>
      await database.commit(engine.context(), {
        mode: 'nonTransactional',
        mutations: [{ operation: 'upsert', entity: entityOf(keyOf(id), id) }],
      })
    for (let id = 1; id <= 200; id++) await put(id)
    const without = await engine.snapshot()
    const job = engine.indexes.create(database, index)
    await job.defined
    const unfinished = await engine.snapshot()
    await engine.restore(without)
    await expect(job.done).rejects.toMatchObject({ code: 'ABORTED' })
    expect(database.catalogue.all).toEqual([])
    await engine.restore(unfinished)
    await engine.indexes.ensure(database, index)
    const { results } = await database.runQuery(engine.context(), { query: indexed })
    expect(results).toHaveLength(100)
    expect((await engine.check()).problems).toEqual([])
    await engine.close()
  })

  test('a read at a moment before the snapshot still sees that moment after restore', async () => {
    const clock = new VirtualClock()
    const engine = await openEngine({ scheduler: clock })
    const database = engine.database('p')
    const context = engine.context()
    const put = async (n: number) => {
      await clock.advance(1000)
      return await database.commit(context, {
        mode: 'nonTransactional',
        mutations: [{ operation: 'upsert', entity: entityOf(keyOf(1), n) }],
      })
    }
    const first = await put(1)
    await put(2)
    const snapshot = await engine.snapshot()
    await put(3)
    await engine.restore(snapshot)
    const readTime = first.mutationResults[0]?.version ?? 0n
    const { found } = await database.lookup(context, { keys: [keyOf(1)], read: { readTime } })
    expect(found.map(({ image }) => image.version)).toEqual([readTime])
    await engine.close()
  })

  test('records that were trimmed after the snapshot are back after restore, and are trimmed again', async () => {
    const clock = new VirtualClock()
    const kv = memoryStore()
    const engine = await openEngine({ scheduler: clock, kv, retention: { ageMicros: 3_600_000_000n, bytesMax: 1000 } })
    const database = engine.database('p')
    const put = async (n: number) => {
      await clock.advance(1)
      const mutations = [{ operation: 'upsert' as const, entity: entityOf(keyOf(1), n) }]
      const { mutationResults } = await database.commit(engine.context(), { mode: 'nonTransactional', mutations })
      return mutationResults[0]?.version ?? 0n
    }
    const readTime = await put(1)
    await put(2)
    const snapshot = await engine.snapshot()
    const lookup = async () => database.lookup(engine.context(), { keys: [keyOf(1)], read: { readTime } })
    const recordsAfterPuts = async (): Promise<number> => {
      for (let n = 3; n < 30; n++) await put(n)
      await expect(lookup()).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' })
      const scan = kv.scan({ start: 'L', end: 'M' })
      const records = (await scan.next(100)).length
      scan.close()
      return records
    }
    const records = await recordsAfterPuts()
    await engine.restore(snapshot)
    expect((await lookup()).found.map(({ image }) => image.version)).toEqual([readTime])
    expect(await recordsAfterPuts()).toBe(records)
    await engine.close()
  })

  test('what waited under a delay when the snapshot was taken is applied after restore too', async () => {
    const clock = new VirtualClock()
    const engine = await openEngine({ scheduler: clock, apply: { type: 'time', delayMs: 100 } })
    await engine.database('p').commit(engine.context(), {
      mode: 'nonTransactional',
      mutations: [{ operation: 'upsert', entity: entityOf(keyOf(1), 1) }],
    })
    const snapshot = await engine.snapshot()
    await clock.advance(100)
    expect((await engine.inspector.pending()).pending).toEqual([])
    await engine.restore(snapshot)
    expect((await engine.inspector.pending()).pending).toHaveLength(1)
    await clock.advance(100)
    expect((await engine.inspector.pending()).pending).toEqual([])
    await engine.close()
  })

  test('a snapshot of another engine, and one on a store that keeps none, are refused', async () => {
    const [one, other] = [await openEngine(), await openEngine()]
    await expect(other.restore(await one.snapshot())).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    const bare = await openEngine({ kv: new AsyncKv(new MemoryKv()) })
    await expect(bare.snapshot()).rejects.toMatchObject({ code: 'UNIMPLEMENTED' })
    for (const engine of [one, other, bare]) await engine.close()
  })
})
