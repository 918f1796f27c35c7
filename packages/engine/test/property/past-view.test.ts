/**
 * past-view/H1: a view at T gives what a read at T gave, or is refused when records are gone.
 *
 * Random commits, and in between what moves rows about under the records: reads of indexes and of the log, apply policies,
 * snapshots and restores, a reset of another namespace. What was there after each commit is known from a model, and asked
 * for again at any time later.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { systemScheduler } from '../../src/clock.ts'
import { requestContext } from '../../src/context.ts'
import { encodeKey, encodeProperties } from '../../src/encoding/entity-codec.ts'
import { type Engine, openEngine } from '../../src/engine/engine.ts'
import type { EngineSnapshot } from '../../src/engine/engine-snapshot.ts'
import { memoryStore } from '../../src/engine/open-kv.ts'
import { DatastoreError } from '../../src/errors.ts'
import { Overlay, overlaid } from '../../src/history/overlay.ts'
import type { Key } from '../../src/model/key.ts'
import type { Filter, Query } from '../../src/model/query.ts'
import type { Value } from '../../src/model/value.ts'
import type { OnDemandRows } from '../../src/on-demand/on-demand-rows.ts'
import { MemoryKv } from '../../src/storage/memory-kv.ts'
import { rowsOf } from '../../src/tables/rows.ts'
import { KvTableView } from '../../src/tables/table.ts'
import { AsyncKv } from '../../src/testing/async-kv.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const namespaces = ['', 'n'] as const
type Namespace = (typeof namespaces)[number]

/** The values of the entities by their ids. */
type State = ReadonlyMap<number, number>

/** What is known of a moment; of a namespace that was reset since nothing is. */
interface Moment {
  readonly at: bigint
  readonly states: Readonly<Record<Namespace, State | undefined>>
}

type Step =
  | { readonly do: 'commit'; readonly namespace: Namespace; readonly values: State; readonly gone: readonly number[] }
  | { readonly do: 'past'; readonly which: number; readonly namespace: Namespace }
  | { readonly do: 'policy'; readonly policy: 'immediate' | 'manual' }
  | { readonly do: 'restore' | 'close'; readonly which: number }
  | { readonly do: 'query' | 'readLog' | 'snapshot' | 'reset' }

const id = fc.integer({ min: 1, max: 4 })
const namespace = fc.constantFrom(...namespaces)
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('commit' as const),
        namespace,
        values: fc.array(fc.tuple(id, id), { maxLength: 3 }).map((pairs) => new Map(pairs)),
        gone: fc.uniqueArray(id, { maxLength: 1 }),
      }),
    },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('past' as const), which: fc.nat(20), namespace }) },
    { weight: 1, arbitrary: fc.constant<Step>({ do: 'query' }) },
    { weight: 1, arbitrary: fc.constant<Step>({ do: 'readLog' }) },
    { weight: 1, arbitrary: fc.constant<Step>({ do: 'reset' }) },
    { weight: 2, arbitrary: fc.constant<Step>({ do: 'snapshot' }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constantFrom('restore' as const, 'close' as const), which: fc.nat(2) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('policy' as const), policy: fc.constantFrom('immediate', 'manual') }),
    },
  ) as fc.Arbitrary<Step>,
  { minLength: 5, maxLength: 40, size: 'max' },
)

function keyOf(namespaceId: Namespace, id: number): Key {
  return { partition: { projectId: 'p', databaseId: '', namespaceId }, path: [{ kind: 'A', id: BigInt(id) }] }
}

function entityOf(key: Key, n: number): Uint8Array {
  const bytes = encodeKey(key)
  const integer = (value: number): Value => ({ type: 'integer', value: BigInt(value) })
  const properties = encodeProperties(
    new Map([
      ['n', integer(n)],
      ['m', integer(otherOf(idOf(key), n))],
    ]),
  )
  return Buffer.concat([Buffer.from([0x0a, bytes.length]), bytes, properties])
}

/** The other property of an entity. */
function otherOf(id: number, n: number): number {
  return (id >> 1) ^ (n & 1)
}

const ids = [1, 2, 3, 4]

class World {
  readonly clock: VirtualClock
  readonly engine: Engine
  readonly kv: MemoryKv | OnDemandRows
  /** How long records of the log are kept, microseconds. */
  readonly age: bigint
  states: Record<Namespace, State> = { '': new Map(), n: new Map() }
  moments: readonly Moment[] = []
  /** The newest moment when the namespace n was reset: of that one, and of those before, nothing can be shown there. */
  resetAt = -1n
  readonly snapshots: (Pick<World, 'states' | 'moments' | 'resetAt'> & { readonly of: EngineSnapshot })[] = []

  constructor(engine: Engine, kv: MemoryKv | OnDemandRows, clock: VirtualClock, age: bigint) {
    this.age = age
    this.engine = engine
    this.kv = kv
    this.clock = clock
  }

  async run(step: Step): Promise<void> {
    const { engine } = this
    await this.clock.advance(10)
    switch (step.do) {
      case 'commit':
        return await this.#commit(step.namespace, step.values, step.gone)
      case 'past': {
        const moment = this.moments[step.which % Math.max(1, this.moments.length)]
        if (moment !== undefined) await this.check(moment, step.namespace)
        return
      }
      case 'query':
        await this.#read('', undefined)
        return
      case 'readLog':
        this.kv.scan(rowsOf('Log')).close()
        return
      case 'reset':
        await engine.reset({ projectId: 'p', databaseId: '', namespaceId: 'n' })
        this.states = { ...this.states, n: new Map() }
        this.resetAt = this.moments.at(-1)?.at ?? -1n
        this.moments = this.moments.map(({ at, states }) => ({ at, states: { ...states, n: undefined } }))
        return
      case 'policy':
        engine.configure({ applyPolicy: { type: step.policy } })
        return
      case 'snapshot':
        this.snapshots.push({ of: await engine.snapshot(), ...this.#known() })
        return
      case 'close':
        for (const { of } of this.snapshots.splice(step.which, 1)) of.close()
        return
      case 'restore': {
        const snapshot = this.snapshots[step.which]
        if (snapshot === undefined) return
        await engine.restore(snapshot.of)
        this.states = snapshot.states
        this.moments = snapshot.moments
        this.resetAt = snapshot.resetAt
      }
    }
  }

  #known(): Pick<World, 'states' | 'moments' | 'resetAt'> {
    const { states, moments, resetAt } = this
    return { states, moments, resetAt }
  }

  async check({ at, states }: Moment, namespace: Namespace): Promise<void> {
    const state = states[namespace]
    if (state === undefined) return
    const having = ids.filter((id) => state.has(id))
    const falling = having.toSorted((a, b) => (state.get(b) ?? 0) - (state.get(a) ?? 0) || a - b)
    const isOld = this.clock.nowMicros() - at > this.age || (namespace === 'n' && at <= this.resetAt)
    const read = await this.#read(namespace, at).catch((error: unknown) => {
      if (isOld && error instanceof DatastoreError && error.code === 'FAILED_PRECONDITION') return undefined
      throw error
    })
    // trimmed, or reset since
    if (read === undefined) return
    const two = having.filter((id) => state.get(id) === 2)
    const joined = two.filter((id) => otherOf(id, 2) === 1)
    expect(read, 'H1').toEqual({ found: having, two, joined, falling, all: having })
  }

  async #commit(namespace: Namespace, values: State, gone: readonly number[]): Promise<void> {
    const { engine } = this
    const deleted = gone.filter((id) => !values.has(id))
    const mutations = [
      ...[...values].map(([id, n]) => ({ operation: 'upsert' as const, entity: entityOf(keyOf(namespace, id), n) })),
      ...deleted.map((id) => ({ operation: 'delete' as const, key: keyOf(namespace, id) })),
    ]
    if (mutations.length === 0) return
    const { mutationResults } = await engine
      .database('p')
      .commit(engine.context(), { mode: 'nonTransactional', mutations })
    const state = new Map([...this.states[namespace], ...values])
    for (const id of deleted) state.delete(id)
    this.states = { ...this.states, [namespace]: state }
    // What a mutation did not change keeps the version of before.
    let at = this.moments.at(-1)?.at ?? 0n
    for (const { version } of mutationResults) if (version > at) at = version
    this.moments = [...this.moments, { at, states: this.states }]
  }

  /** What each kind of read gives, as ids. */
  async #read(namespaceId: Namespace, readTime: bigint | undefined): Promise<Record<string, number[]>> {
    const { engine } = this
    const database = engine.database('p')
    const read = readTime === undefined ? {} : { read: { readTime } }
    const { found } = await database.lookup(engine.context(), {
      keys: ids.map((id) => keyOf(namespaceId, id)),
      ...read,
    })
    const run = async (more: Partial<Query>): Promise<number[]> => {
      const { partition } = keyOf(namespaceId, 1)
      const query: Query = { partition, kind: 'A', projection: [], order: [], distinctOn: [], offset: 0, ...more }
      const { results } = await database.runQuery(engine.context(), { query, ...read })
      return results.map(({ key }) => idOf(key))
    }
    const isEqual = (property: string, value: bigint): Filter => {
      return { type: 'property', property, operator: 'equal', value: { type: 'integer', value } }
    }
    return {
      found: found.map(({ key }) => idOf(key)),
      two: await run({ filter: isEqual('n', 2n) }),
      joined: await run({
        filter: { type: 'composite', operator: 'and', filters: [isEqual('n', 2n), isEqual('m', 1n)] },
      }),
      falling: await run({ order: [{ property: 'n', direction: 'descending' }] }),
      all: await run({}),
    }
  }
}

function idOf({ path }: Key): number {
  return Number(path[0]?.id)
}

test.each<[string, () => MemoryKv | OnDemandRows]>([
  ['with all rows', () => new MemoryKv([], { nodeCapacity: 4 })],
  ['with rows on demand', () => memoryStore(undefined, new MemoryKv([], { nodeCapacity: 4 }))],
])('past-view/H1: a view at T gives what a read at T gave, %s', async (_, kvOf) => {
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(100_000n, 3_600_000_000n), async (sequence, age) => {
      const [kv, clock] = [kvOf(), new VirtualClock()]
      const engine = await openEngine({ scheduler: clock, kv, retention: { ageMicros: age, bytesMax: 1 << 20 } })
      const world = new World(engine, kv, clock, age)
      for (const step of sequence) await world.run(step)
      for (const moment of world.moments) for (const one of namespaces) await world.check(moment, one)
      await engine.close()
    }),
    { numRuns: runs(21) },
  )
})

/** Rows of one table, by a letter each. */
const rows = fc
  .dictionary(fc.constantFrom(...'abcdefghij'), fc.nat({ max: 2 }))
  .map((own) => new Map(Object.entries(own)))
const letter = fc.constantFrom(...'abcdefghijk')

type ScanStep = { readonly seek: string } | { readonly count: number }

test.each([
  ['at once', false],
  ['by promise', true],
])('past-view/H1: a scan of the past merges the rows of now with the undone ones, read %s', async (_, isLate) => {
  const context = requestContext({ clock: systemScheduler })
  const scanSteps: fc.Arbitrary<ScanStep[]> = fc.array(
    fc.oneof(fc.record({ seek: letter }), fc.record({ count: fc.integer({ min: 1, max: 4 }) })),
    { maxLength: 12 },
  )
  const bounds = fc.tuple(letter, letter).map((two) => two.toSorted())
  await fc.assert(
    fc.asyncProperty(
      rows,
      rows,
      bounds,
      fc.boolean(),
      scanSteps,
      async (now, undone, [start = '', end = ''], reverse, steps) => {
        const store = new MemoryKv([...now].map(([key, value]) => ({ key, value: Uint8Array.of(value) })))
        // 0 stands for a row that was not there.
        const bytesOf = (value: number): Uint8Array | undefined => (value === 0 ? undefined : Uint8Array.of(value))
        const laidOver = new Map([...undone].map(([key, value]) => [key, bytesOf(value)]))
        const overlay = new Overlay()
        for (const [key, value] of laidOver) overlay.write(key, value)
        const view = overlaid(new KvTableView(isLate ? new AsyncKv(store) : store), overlay)
        const past = [...now, ...undone]
          .filter(
            ([key, value]) =>
              start <= key && key < end && undone.get(key) !== 0 && (undone.get(key) ?? value) === value,
          )
          .map(([key, value]) => `${key}${value}`)
          .filter((row, i, all) => all.indexOf(row) === i)
          .sort()
        if (reverse) past.reverse()
        const isBefore = (row: string, key: string): boolean => (reverse ? row.slice(0, 1) > key : row < key)
        const scan = view.scan(context, 'Entities', { start, end }, { reverse })
        let left = past
        for (const step of steps) {
          if ('seek' in step) {
            scan.seek(step.seek)
            left = past.filter((row) => !isBefore(row, step.seek))
            continue
          }
          const found = (await scan.next(step.count)).map(({ key, value }) => `${key}${value[0]}`)
          expect(found).toEqual(left.slice(0, found.length))
          expect(found.length).toBeLessThanOrEqual(step.count)
          if (left.length > 0) expect(found.length).toBeGreaterThan(0)
          left = left.slice(found.length)
        }
        scan.close()
        for (const key of 'abcdefghij') {
          const value = await view.get(context, 'Entities', key)
          expect(value).toEqual(undone.has(key) ? laidOver.get(key) : await store.get(key))
        }
      },
    ),
    { numRuns: runs(60) },
  )
})
