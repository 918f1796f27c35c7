/**
 * The cost of reads of the past, counted in log records that they read, and how they go on and end beside others.
 */
import { describe, expect, onTestFinished, test } from 'vitest'
import { type RequestContext, requestContext } from '../context.ts'
import type { Database } from '../database/database.ts'
import { encodeKey, encodeProperties } from '../encoding/entity-codec.ts'
import { keyCodes } from '../encoding/key-codec.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import { encodeLogRecord } from '../log/log-record.ts'
import { Retention } from '../log/retention.ts'
import { sliceWorkMax } from '../slices.ts'
import type { RowKey } from '../storage/kv.ts'
import { MemoryKv, type MemorySnapshot } from '../storage/memory-kv.ts'
import { encodeImage } from '../tables/entities.ts'
import { kindPrefix } from '../tables/entities-by-kind.ts'
import { groupOf, logRowKey } from '../tables/log-rows.ts'
import { isOf, prefixRange } from '../tables/rows.ts'
import { partOf } from '../tables/table-part.ts'
import { entity, key, type PlainValue, type QueryWords, query, where } from '../testing/query-world.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { UndoneRows } from './undone-rows.ts'

/** A store that notes the log records that are read from its snapshots. */
class WatchedKv extends MemoryKv {
  readonly read: RowKey[] = []
  onRead: () => void = () => {}

  override snapshot(): MemorySnapshot {
    const snapshot = super.snapshot()
    const get = snapshot.get.bind(snapshot)
    snapshot.get = (row) => {
      if (isOf('Log', row)) {
        this.read.push(row)
        this.onRead()
      }
      return get(row)
    }
    return snapshot
  }
}

interface Subject {
  readonly kv: WatchedKv
  readonly clock: VirtualClock
  readonly engine: Engine
  readonly database: Database
}

async function open(): Promise<Subject> {
  const [kv, clock] = [new WatchedKv(), new VirtualClock()]
  const engine = await openEngine({ kv, scheduler: clock })
  onTestFinished(() => engine.close())
  return { kv, clock, engine, database: engine.database('p') }
}

type Words = readonly [string, Readonly<Record<string, PlainValue>>]

/** Commits entities by their words, some at a time. @returns the version of the last */
async function put({ engine, database }: Subject, entities: readonly Words[], namespaceId = ''): Promise<bigint> {
  let last = 0n
  for (let at = 0; at < entities.length; at += 250) {
    const mutations = entities.slice(at, at + 250).map(([words, properties]) => {
      const bytes = encodeKey(key(words, namespaceId))
      const encoded = encodeProperties(entity(words, properties).properties)
      return {
        operation: 'upsert' as const,
        entity: Buffer.concat([Buffer.from([0x0a, bytes.length]), bytes, encoded]),
      }
    })
    const done = await database.commit(engine.context(), { mode: 'nonTransactional', mutations })
    last = done.mutationResults.at(-1)?.version ?? last
  }
  return last
}

/** So many log records are read by `work`. */
async function readsOf({ kv }: Subject, work: () => unknown): Promise<number> {
  kv.read.length = 0
  await work()
  return kv.read.length
}

const lookup = ({ database, engine }: Subject, readTime: bigint, ...words: string[]) =>
  database.lookup(engine.context(), { keys: words.map((one) => key(one)), read: { readTime } })

const run = ({ database, engine }: Subject, readTime: bigint, words: QueryWords, context?: RequestContext) =>
  database.runQuery(context ?? engine.context(), { query: query(words), read: { readTime } })

const ofKind = (kind: string, count: number, x: number) =>
  Array.from({ length: count }, (_, i) => [`${kind}:${i + 1}`, { x: BigInt(x), y: BigInt(i) }] as const)

describe('a lookup at a past time', () => {
  test('reads the log records of the groups of its keys alone, once for all lookups of that time', async () => {
    const subject = await open()
    const at = await put(subject, ofKind('A', 5, 1))
    await put(subject, ofKind('A', 50, 2))
    await put(subject, ofKind('A', 3, 3))
    expect(await readsOf(subject, () => lookup(subject, at, 'A:1', 'A:7'))).toBe(3)
    expect(await readsOf(subject, () => lookup(subject, at, 'A:7', 'A:1'))).toBe(0)
    await put(subject, [['A:1', { x: 4n }]])
    expect(await readsOf(subject, () => lookup(subject, at, 'A:1'))).toBe(1)
    expect((await lookup(subject, at, 'A:1', 'A:7')).found.map(({ image }) => image.version <= at)).toEqual([true])
  })

  test('reads no record where the version of the entity says that it is older', async () => {
    const subject = await open()
    const at = await put(subject, [['A:1', { x: 1n }]])
    await put(subject, [
      ['A:1/B:1', { x: 1n }],
      ['A:2', { x: 1n }],
    ])
    expect(await readsOf(subject, () => lookup(subject, at, 'A:1'))).toBe(0)
    expect(await readsOf(subject, () => lookup(subject, at, 'A:1/B:1'))).toBe(1)
  })
})

describe('a query at a past time', () => {
  test('reads the log records of its kind and namespace alone', async () => {
    const subject = await open()
    const at = await put(subject, [...ofKind('A', 3, 1), ...ofKind('B', 3, 1)])
    await put(subject, [...ofKind('A', 4, 2), ...ofKind('B', 40, 2)])
    await put(subject, ofKind('A', 30, 2), 'other')
    const ones = { kind: 'A', filter: where('x', '=', 1n) }
    expect(await readsOf(subject, () => run(subject, at, { ...ones, projection: ['__key__'] }))).toBe(4)
    expect(await readsOf(subject, () => run(subject, at, { kind: 'C', filter: where('x', '=', 1n) }))).toBe(0)
    const { results } = await run(subject, at, ones)
    expect(results.map(({ key }) => key.path[0]?.id)).toEqual([1n, 2n, 3n])
  })

  test('of an ancestor reads the records of its group alone', async () => {
    const subject = await open()
    const at = await put(subject, [['A:1/B:1', { x: 1n }]])
    await put(subject, [['A:1/B:1', { x: 2n }], ['A:1/B:2', { x: 2n }], ...ofKind('B', 20, 2)])
    const under = { kind: 'B', filter: where('__key__', 'under', key('A:1')) }
    let found: Awaited<ReturnType<typeof run>> | undefined
    const reads = await readsOf(subject, async () => {
      found = await run(subject, at, under)
    })
    expect(found?.results.map(({ key }) => key.path[1]?.id)).toEqual([1n])
    // Those of the index, and those of the entities in the result.
    expect(reads).toBeLessThanOrEqual(4)
  })

  test('page after page, ten at once and with a sum reads each record of its kind once', async () => {
    const subject = await open()
    const at = await put(subject, ofKind('A', 30, 1))
    await put(subject, ofKind('A', 30, 2))
    const keys = { kind: 'A', filter: where('x', '=', 1n), projection: ['__key__'] }
    const tenAtOnce = () => Promise.all(Array.from({ length: 10 }, () => run(subject, at, keys)))
    expect(await readsOf(subject, tenAtOnce)).toBe(30)
    const pages = async (): Promise<number> => {
      let given = 0
      for (let startCursor: Uint8Array | undefined; given < 30; ) {
        const page = await run(subject, at, { ...keys, limit: 7, ...(startCursor && { startCursor }) })
        expect(page.results.length).toBeGreaterThan(0)
        given += page.results.length
        startCursor = page.endCursor
      }
      return given
    }
    expect(await readsOf(subject, pages)).toBe(0)
    const sum = () =>
      subject.database.runAggregationQuery(subject.engine.context(), {
        query: query({ kind: 'A', filter: where('x', '=', 1n) }),
        aggregations: [{ operator: 'count', upTo: undefined }],
        read: { readTime: at },
      })
    expect(await readsOf(subject, sum)).toBe(0)
    await put(subject, ofKind('A', 2, 3))
    expect(await readsOf(subject, tenAtOnce)).toBe(2)
  })

  test('is cut into slices, and goes on where one that ended with its caller has left off', async () => {
    const subject = await open()
    const { kv, clock } = subject
    const count = 1500
    const at = await put(subject, [['A:1', { x: 1n }]])
    await put(subject, ofKind('A', count, 2))
    const keys = { kind: 'A', filter: where('x', '=', 1n), projection: ['__key__'] }
    const gone = new AbortController()
    const context = requestContext({ clock, signal: gone.signal })
    const deferred = clock.defer.bind(clock)
    const inTurn: number[] = []
    let last = 0
    clock.defer = (task) =>
      deferred(() => {
        inTurn.push(kv.read.length - last)
        last = kv.read.length
        task()
      })
    kv.read.length = 0
    kv.onRead = () => {
      if (kv.read.length === count / 2) gone.abort()
    }
    const [first, second] = await Promise.allSettled([run(subject, at, keys, context), run(subject, at, keys)])
    expect(first).toMatchObject({ status: 'rejected', reason: { code: 'CANCELLED' } })
    expect(second).toMatchObject({ status: 'fulfilled', value: { results: [{ key: key('A:1') }] } })
    // The record at which it was cut off is read again.
    expect(kv.read.length).toBeLessThanOrEqual(count + 1)
    expect(Math.max(...inTurn, kv.read.length - last)).toBeLessThanOrEqual(sliceWorkMax / 8)
    expect(inTurn.length).toBeGreaterThanOrEqual(3)
  })

  test.each(['close', 'restore', 'reset'] as const)(
    'ends when a %s comes in between, or answers as before',
    async (what) => {
      const subject = await open()
      const { engine, kv } = subject
      const at = await put(subject, ofKind('A', 3, 1))
      const snapshot = await engine.snapshot()
      await put(subject, ofKind('A', 1000, 2))
      let done: Promise<unknown> | undefined
      kv.onRead = () => {
        if (kv.read.length !== 500) return
        const scope = { projectId: 'p', databaseId: '', namespaceId: '' }
        done = {
          close: () => engine.close(),
          restore: () => engine.restore(snapshot),
          reset: () => engine.reset(scope),
        }[what]()
      }
      const ones = { kind: 'A', filter: where('x', '=', 1n), projection: ['__key__'] }
      const answer = Promise.resolve(run(subject, at, ones)).catch((error: unknown) => error)
      const given = await answer
      if (given instanceof Error) expect(given).toMatchObject({ code: 'UNAVAILABLE' })
      else expect((given as { results: unknown[] }).results.length).toBe(3)
      await done
      kv.onRead = () => {}
      if (what === 'close') return
      const after = await put(subject, [['A:9', { x: 1n }]])
      await put(subject, [['A:9', { x: 2n }]])
      expect((await run(subject, after, ones)).results.length).toBe(what === 'reset' ? 1 : 4)
    },
  )
})

describe('what reads of the past share', () => {
  const at = 100n
  const recordsOfKind = 50

  /** Rows undone in the index of a kind; each kind has the same newer records. */
  function undoneOf(bytesMax?: number) {
    const clock = new VirtualClock()
    const retention = new Retention({ ageMicros: 3_600_000_000n, bytesMax: 1 << 20 }, clock)
    const reader = new MemoryKv()
    const { partition } = keyCodes(key('A:1'))
    const head = { transaction: new Uint8Array(0), groups: [] }
    for (let i = 0; i < 3 * recordsOfKind; i++) {
      const codes = keyCodes(key(`${'ABC'[i % 3]}:${i + 1}`))
      const group = groupOf(partition, codes.path)
      const logRow = logRowKey(group, at + BigInt(i + 1))
      const change = { path: codes.path, before: undefined, after: image }
      reader.write(logRow, encodeLogRecord(head, [change]))
      retention.add({ logRow, logBytes: 100, changes: [{ codes }] }, at + BigInt(i + 1))
    }
    const undone = new UndoneRows(clock, bytesMax)
    const moment = { at, reader, newer: retention.newerThan(at), rulesOf: () => ({ indexes: [], indexOptions: {} }) }
    const read = async (kind: string, moments = 1): Promise<void> => {
      const part = partOf('EntitiesByKind', prefixRange(kindPrefix(partition, kind)))
      for (let i = 0; i < moments; i++) {
        const context = requestContext({ clock })
        if (part !== undefined) await undone.of(context, { ...moment, at: at - BigInt(i) }, { part })
      }
    }
    return { clock, undone, read }
  }

  const image = encodeImage({ version: 1n, createTime: 1n, updateTime: 1n, properties: new Uint8Array(0) })

  test('stays below its bytes, whatever number of moments is read', async () => {
    const { undone, read } = undoneOf()
    await read('A')
    const one = undone.bytes
    expect(one).toBeGreaterThan(recordsOfKind * 64)
    const bounded = undoneOf(5 * one)
    await bounded.read('A', 100)
    expect(bounded.undone.bytes).toBeLessThanOrEqual(5 * one)
    expect(bounded.undone.bytes).toBeGreaterThan(3 * one)
  })

  test('goes some time after its last read, and at once when it is forgotten', async () => {
    const { clock, undone, read } = undoneOf()
    await read('A')
    const one = undone.bytes
    await clock.advance(10_000)
    await read('B')
    await clock.advance(10_000)
    await read('B')
    await clock.advance(10_000)
    expect(undone.bytes).toBe(one)
    await clock.advance(20_000)
    expect(undone.bytes).toBe(0)
    await read('C')
    expect(undone.bytes).toBe(one)
    undone.forget()
    expect(undone.bytes).toBe(0)
  })
})
