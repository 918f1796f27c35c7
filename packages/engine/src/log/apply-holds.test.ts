import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { encodeKey, encodeProperties } from '../encoding/entity-codec.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import type { Key, PathElement } from '../model/key.ts'
import type { Query } from '../model/query.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { AsyncKv } from '../testing/async-kv.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import type { ApplyHold } from './apply-holds.ts'

let engine: Engine
let clock: VirtualClock

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const element = (kind: string, id: number): PathElement => ({ kind, id: BigInt(id) })
const keyOf = (kind: string, id: number, child?: PathElement): Key => ({
  partition,
  path: child === undefined ? [element(kind, id)] : [element(kind, id), child],
})

async function put(...keys: readonly Key[]): Promise<void> {
  const mutations = keys.map((key) => {
    const bytes = encodeKey(key)
    const properties = encodeProperties(new Map([['n', { type: 'integer', value: clock.nowMicros() }]]))
    const entity = Buffer.concat([Uint8Array.of(0x0a, bytes.length), bytes, properties])
    return { operation: 'upsert' as const, entity }
  })
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
}

async function count(kind: string, consistency?: 'strong'): Promise<number> {
  const query: Query = { partition, kind, projection: [], order: [], distinctOn: [], offset: 0 }
  const read = consistency === undefined ? {} : { read: { consistency } }
  const { results } = await engine.database('p').runQuery(engine.context(), { query, ...read })
  return results.length
}

describe.each([
  ['at once', () => new MemoryKv()],
  ['by promises', () => new AsyncKv(new MemoryKv())],
])('a hold, on a store that answers %s', (_answers, store) => {
  beforeEach(async () => {
    clock = new VirtualClock()
    engine = await openEngine({ kv: store(), scheduler: clock })
  })

  afterEach(async () => {
    expect((await engine.check()).problems).toEqual([])
    await engine.close()
  })

  test.each<[string, ApplyHold, readonly [number, number]]>([
    ['everything', {}, [0, 0]],
    ['a kind', { kind: 'A' }, [0, 1]],
    ['a key', { path: [element('B', 1)] }, [1, 0]],
    ['a key of another id', { path: [element('B', 2)] }, [1, 1]],
    ['a project', { projectId: 'p' }, [0, 0]],
    ['another project', { projectId: 'q' }, [1, 1]],
    ['another database', { databaseId: 'd' }, [1, 1]],
    ['another namespace', { namespaceId: 'n' }, [1, 1]],
    ['a kind of this namespace', { namespaceId: '', kind: 'B' }, [1, 0]],
  ])('of %s keeps global queries from seeing it, until it ends', async (_what, which, seen) => {
    const release = engine.inspector.hold(which)
    await put(keyOf('A', 1))
    await put(keyOf('B', 1))
    expect([await count('A'), await count('B')]).toEqual(seen)
    await release()
    expect([await count('A'), await count('B')]).toEqual([1, 1])
    expect((await engine.inspector.pending()).pending).toEqual([])
    await release()
  })

  test('is met by a strong read of the group, and a strong global query', async () => {
    engine.inspector.hold({ kind: 'A' })
    await put(keyOf('A', 1))
    await engine.database('p').lookup(engine.context(), { keys: [keyOf('A', 1)] })
    expect(await count('A')).toBe(1)
    await put(keyOf('A', 2))
    expect(await count('A')).toBe(1)
    expect(await count('A', 'strong')).toBe(2)
  })

  test('keeps back what comes later in the group, and no other group (apply-holds/H1)', async () => {
    const release = engine.inspector.hold({ kind: 'Held' })
    await put(keyOf('Root', 1, element('Held', 1)))
    await put(keyOf('Root', 1))
    await put(keyOf('Root', 2))
    expect(await count('Root')).toBe(1)
    expect((await engine.inspector.pending()).pending).toHaveLength(2)
    await release()
    expect(await count('Root')).toBe(2)
  })

  test('of two leaves what the other one still catches', async () => {
    const releases = [engine.inspector.hold({ kind: 'A' }), engine.inspector.hold({ path: [element('A', 1)] })]
    await put(keyOf('A', 1))
    await put(keyOf('A', 2))
    await releases[0]?.()
    expect(await count('A')).toBe(1)
    await releases[1]?.()
    expect(await count('A')).toBe(2)
  })

  test('of one group of a commit leaves the other groups of it to their policy', async () => {
    const release = engine.inspector.hold({ kind: 'A' })
    await put(keyOf('A', 1), keyOf('B', 1))
    await clock.advance(1)
    expect([await count('A'), await count('B')]).toEqual([0, 1])
    await release()
    expect(await count('A')).toBe(1)
  })

  test('that ends after the policy became immediate applies also the records that still wait for their delay', async () => {
    engine.configure({ applyPolicy: { type: 'time', delayMs: 1000 } })
    await put(keyOf('Root', 1))
    const release = engine.inspector.hold({ kind: 'Held' })
    await put(keyOf('Root', 1, element('Held', 1)))
    await put(keyOf('Root', 1, element('Held', 2)))
    engine.configure({ applyPolicy: { type: 'immediate' } })
    await release()
    expect((await engine.inspector.pending()).pending).toEqual([])
  })

  test('goes before a delay, and the delay begins when it ends', async () => {
    engine.configure({ applyPolicy: { type: 'time', delayMs: 100 } })
    const release = engine.inspector.hold({ kind: 'A' })
    await put(keyOf('A', 1))
    await clock.advance(1000)
    expect(await count('A')).toBe(0)
    await release()
    await clock.advance(99)
    expect(await count('A')).toBe(0)
    await clock.advance(1)
    expect(await count('A')).toBe(1)
  })

  test.each([
    ['one group', (id: number) => keyOf('Root', 1, element('A', id))],
    ['a group each', (id: number) => keyOf('A', id)],
  ])('that kept 3,000 records of %s frees all, with turns for others', async (_groups, of) => {
    const releases = [engine.inspector.hold(), engine.inspector.hold({ kind: 'A' })]
    for (let id = 1; id <= 3000; id += 1) await put(of(id))
    let turns = 0
    const defer = clock.defer.bind(clock)
    clock.defer = (work) => {
      turns++
      defer(work)
    }
    await Promise.all(releases.map((release) => release()))
    expect((await engine.inspector.pending()).pending).toEqual([])
    expect(turns).toBeGreaterThan(4)
  })

  test('goes before chance', async () => {
    engine.configure({ applyPolicy: { type: 'probability', chance: 1 } })
    const release = engine.inspector.hold({ kind: 'A' })
    await put(keyOf('A', 1))
    expect(await count('A')).toBe(0)
    await release()
    expect(await count('A')).toBe(1)
  })

  test('tells of each record that it catches', async () => {
    let caught = 0
    engine.inspector.hold({ kind: 'A' }, () => caught++)
    await put(keyOf('A', 1))
    await put(keyOf('B', 1))
    await put(keyOf('A', 2))
    expect(caught).toBe(2)
  })
})

test('what a snapshot has waiting is held after restore by the holds of then, and by no other', async () => {
  clock = new VirtualClock()
  engine = await openEngine({ scheduler: clock })
  const release = engine.inspector.hold({ kind: 'A' })
  await put(keyOf('A', 1))
  const snapshot = await engine.snapshot()
  await release()
  expect(await count('A')).toBe(1)
  engine.inspector.hold({ kind: 'B' })
  await engine.restore(snapshot)
  expect((await engine.inspector.pending()).pending).toHaveLength(1)
  expect(await count('A')).toBe(1)
  await engine.close()
})
