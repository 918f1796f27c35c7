/**
 * Long calls in slices (slices.ts): how much one does between two turns, that it ends with its caller, and that commits which
 * come in between do not change the moment that it reads.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { CountingLedger, type RequestContext, requestContext } from '../../src/context.ts'
import type { Database } from '../../src/database/database.ts'
import { decodeProperties, encodeKey, encodeProperties } from '../../src/encoding/entity-codec.ts'
import { type Engine, openEngine } from '../../src/engine/engine.ts'
import { CommitLog } from '../../src/log/commit-log.ts'
import type { Filter } from '../../src/model/query.ts'
import type { Value } from '../../src/model/value.ts'
import { Findings } from '../../src/observe/findings/findings.ts'
import { IndexPatterns } from '../../src/observe/findings/index-patterns.ts'
import { KeyPatterns } from '../../src/observe/findings/key-patterns.ts'
import { TabletFleet } from '../../src/observe/tablets/fleet.ts'
import { sliceWorkMax } from '../../src/slices.ts'
import { and, type QueryWords, query, where } from '../../src/testing/query-world.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

/** A clock that stands still, and reports each turn that a caller waits for. */
class TurnClock extends VirtualClock {
  turns = 0
  onTurn: () => void = () => {}
  /** How far the clock moves at each measurement. */
  stepMs = 0
  #steady = 0

  override steadyMs(): number {
    this.#steady += this.stepMs
    return this.#steady
  }

  override defer(task: () => void): void {
    super.defer(() => {
      this.turns++
      this.onTurn()
      task()
    })
  }
}

function keyOf(id: number) {
  return { partition: { projectId: 'p', databaseId: '', namespaceId: '' }, path: [{ kind: 'A', id: BigInt(id) }] }
}

function entityOf(id: number, properties: Readonly<Record<string, Value>>): Uint8Array {
  const key = encodeKey(keyOf(id))
  return Buffer.concat([Buffer.from([0x0a, key.length]), key, encodeProperties(new Map(Object.entries(properties)))])
}

const integer = (value: number): Value => ({ type: 'integer', value: BigInt(value) })
const vector = (...values: number[]): Value => ({
  type: 'array',
  values: values.map((value): Value => ({ type: 'double', value })),
  meaning: 31,
  excludeFromIndexes: true,
})

async function put(database: Database, context: RequestContext, entities: readonly Uint8Array[]): Promise<void> {
  for (let at = 0; at < entities.length; at += 500) {
    const mutations = entities.slice(at, at + 500).map((entity) => ({ operation: 'upsert' as const, entity }))
    await database.commit(context, { mode: 'nonTransactional', mutations })
  }
}

/** A call by its words; each goes over many rows. */
type Verb = (database: Database, context: RequestContext) => unknown

const queryOf =
  (words: QueryWords): Verb =>
  (database, context) =>
    database.runQuery(context, { query: query({ kind: 'A', ...words }) })

const aggregationOf =
  (words: QueryWords, operator: 'count' | 'sum' | 'avg'): Verb =>
  (database, context) =>
    database.runAggregationQuery(context, {
      query: query({ kind: 'A', ...words }),
      aggregations: [operator === 'count' ? { operator, upTo: undefined } : { operator, property: 'x' }],
    })

const verbs: Readonly<Record<string, Verb>> = {
  'a filter that nothing passes': queryOf({ filter: and(where('x', '>', -1n), where('half', '>', 9n)), order: ['x'] }),
  'a merge join that nothing passes': queryOf({ filter: and(where('even', '=', 0n), where('half', '=', 1n)) }),
  'a count behind a long offset': aggregationOf({ offset: 1_000_000 }, 'count'),
  'a sum behind a long offset in an order': aggregationOf({ offset: 1_000_000, order: ['x desc'] }, 'sum'),
  'a count': aggregationOf({}, 'count'),
  'a sum': aggregationOf({}, 'sum'),
  'an average of a filter': aggregationOf({ filter: where('x', '>', 0n) }, 'avg'),
  'a search by vector': queryOf({ nearest: { property: 'v', vector: vector(1, 1), measure: 'euclidean', limit: 3 } }),
  __property__: queryOf({ kind: '__property__' }),
  __Stat_Total__: queryOf({ kind: '__Stat_Total__' }),
}

const entities = 12_000
/** What was found by a walk is remembered until something is written. */
let changes = 100
/** What is done between two looks at the slice comes on top of it: the largest batch, and an entity for each of its rows. */
const rowsPerTurnMax = sliceWorkMax + 2 * 1024

describe('over many entities', () => {
  let clock: TurnClock
  let engine: Engine

  beforeAll(async () => {
    clock = new TurnClock()
    engine = await openEngine({ scheduler: clock })
    const all = Array.from({ length: entities }, (_, i) =>
      // No entity has both: even ids end the first half of a join, odd ones the second.
      entityOf(i + 1, {
        x: integer(i % 7),
        v: vector(i, 1),
        ...(i % 2 === 0 ? { even: integer(0) } : { half: integer(1) }),
      }),
    )
    await put(engine.database('p'), engine.context(), all)
  })

  afterAll(() => engine.close())

  test.each(Object.entries(verbs))(
    '%s is cut into slices of bounded work, while time stands still',
    async (_, verb) => {
      const ledger = new CountingLedger()
      const context = { ...requestContext({ clock }), ledger }
      let [last, most] = [0, 0]
      clock.turns = 0
      clock.onTurn = () => {
        most = Math.max(most, ledger.rowsRead - last)
        last = ledger.rowsRead
      }
      // The first makes what it reads on demand, the second has it.
      for (let run = 0; run < 2; run++) {
        clock.turns = 0
        await put(engine.database('p'), engine.context(), [entityOf(1, { x: integer(++changes) })])
        await verb(engine.database('p'), context)
        expect(clock.turns).toBeGreaterThanOrEqual(1)
      }
      expect(Math.max(most, ledger.rowsRead - last)).toBeLessThanOrEqual(rowsPerTurnMax)
    },
  )

  test.each(Object.entries(verbs))('%s ends when its client is gone', async (_, verb) => {
    const ledger = new CountingLedger()
    const gone = new AbortController()
    await put(engine.database('p'), engine.context(), [entityOf(1, { x: integer(++changes) })])
    const context = { ...requestContext({ clock, signal: gone.signal }), ledger }
    clock.onTurn = () => gone.abort()
    await expect(verb(engine.database('p'), context)).rejects.toMatchObject({ code: 'CANCELLED' })
    expect(ledger.rowsRead).toBeLessThanOrEqual(rowsPerTurnMax)
  })

  test.each(Object.entries(verbs))('%s ends when its time is over', async (_, verb) => {
    const ledger = new CountingLedger()
    await put(engine.database('p'), engine.context(), [entityOf(1, { x: integer(++changes) })])
    const context = { ...requestContext({ clock, deadlineAt: clock.steadyMs() + 1 }), ledger }
    clock.onTurn = () => {
      clock.stepMs = 2
    }
    await expect(verb(engine.database('p'), context)).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' })
    expect(ledger.rowsRead).toBeLessThanOrEqual(rowsPerTurnMax)
    clock.stepMs = 0
  })
})

test('counting the rows of tablets goes in slices, and keeps no index row', async () => {
  const clock = new TurnClock()
  const engine = await openEngine({ scheduler: clock })
  const all = Array.from({ length: entities }, (_, i) => entityOf(i + 1, { x: integer(i), y: integer(-i) }))
  await put(engine.database('p'), engine.context(), all)
  const rowsOf = (): number =>
    engine.tablets
      .report()
      .tables.filter(({ table }) => table === 'EntitiesByPropertyAsc')
      .reduce((sum, { rows }) => sum + rows, 0)
  const before = (await engine.snapshot()).rows
  expect(rowsOf()).toBeLessThan(2 * entities)
  for (let i = 0; i < 1000 && rowsOf() < 2 * entities; i++) await new Promise((resolve) => setImmediate(resolve))
  // A row for each value, and for each entity of a sparse sample one more.
  expect(rowsOf()).toBeGreaterThanOrEqual(2 * entities)
  expect(rowsOf()).toBeLessThan(2.1 * entities)
  expect(clock.turns).toBeGreaterThanOrEqual(5)
  expect((await engine.snapshot()).rows).toBe(before)
})

test('the entities of a large commit are charged, and looked at for findings, in turns of their own', async () => {
  const clock = new TurnClock()
  const engine = await openEngine({ scheduler: clock })
  const turns = { indexes: new Set<number>(), keys: new Set<number>(), charges: new Map<number, number>() }
  const note = (prototype: IndexPatterns | KeyPatterns, turn: Set<number>) =>
    vi.spyOn(prototype, 'noteCommitted').mockImplementation(() => void turn.add(clock.turns))
  const [indexes, keys] = [note(IndexPatterns.prototype, turns.indexes), note(KeyPatterns.prototype, turns.keys)]
  const charged = vi.spyOn(TabletFleet.prototype, 'charge').mockImplementation(() => {
    turns.charges.set(clock.turns, (turns.charges.get(clock.turns) ?? 0) + 1)
  })
  let told = Number.POSITIVE_INFINITY
  const { noteCommitted } = Findings.prototype
  const noted = vi.spyOn(Findings.prototype, 'noteCommitted').mockImplementation(function (this: Findings, event) {
    told = clock.turns
    noteCommitted.call(this, event)
  })
  onTestFinished(() => {
    for (const spy of [indexes, keys, charged, noted]) spy.mockRestore()
  })
  const all = Array.from({ length: 500 }, (_, i) => entityOf(i + 1, { x: integer(i), y: integer(-i) }))
  clock.stepMs = 4
  await put(engine.database('p'), engine.context(), all)
  await vi.waitFor(() => expect(turns.keys.size).toBe(1))
  expect([...turns.indexes, ...turns.keys].every((turn) => turn > told)).toBe(true)
  expect(turns.indexes).not.toEqual(turns.keys)
  // Until the exact figures of a second are used up: 1,000 rows.
  expect(turns.charges.size).toBeGreaterThanOrEqual(3)
  expect(Math.max(...turns.charges.values())).toBeLessThan(512)
  await engine.close()
})

/** A query whose whole answer depends on the moment: one state of the store, and no mixture of two, has it. */
const moments: Readonly<Record<string, (database: Database, context: RequestContext) => Promise<string>>> = {
  entities: async (database, context) => wordsOf(await database.runQuery(context, { query: query({ kind: 'A' }) })),
  'an order': async (database, context) =>
    wordsOf(await database.runQuery(context, { query: query({ kind: 'A', order: ['x'] }) })),
  'an order downwards': async (database, context) =>
    wordsOf(await database.runQuery(context, { query: query({ kind: 'A', order: ['y desc'] }) })),
  'a join': async (database, context) => {
    const filter = and(where('even', '=', 0n), where('sign', '=', 1n))
    return wordsOf(await database.runQuery(context, { query: query({ kind: 'A', filter }) }))
  },
  'a count, a sum': async (database, context) => {
    const filter: Filter = where('x', '>', 40n)
    const { values } = await database.runAggregationQuery(context, {
      query: query({ kind: 'A', filter }),
      aggregations: [
        { operator: 'count', upTo: undefined },
        { operator: 'sum', property: 'x' },
      ],
    })
    return [...values.values()].map((value) => ('value' in value ? String(value.value) : '')).join(' ')
  },
}

function wordsOf({ results }: Awaited<ReturnType<Database['runQuery']>>): string {
  return results
    .map(({ key, image }) => {
      const x = decodeProperties(image?.properties ?? new Uint8Array(0)).get('x')
      return `${key.path[0]?.id}=${x?.type === 'integer' ? x.value : '?'}`
    })
    .join(' ')
}

const model = (id: number, x: number): Uint8Array =>
  entityOf(id, { x: integer(x), y: integer(-x), even: integer(id % 2), sign: integer(x > 50 ? 1 : 0) })

test.each(Object.entries(moments))(
  '%s: a query cut into slices answers as of one moment, whatever is committed',
  async (_, ask) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 700 }), fc.option(fc.nat({ max: 100 }))), {
          minLength: 1,
          maxLength: 60,
        }),
        async (changes) => {
          const clock = new TurnClock()
          // Each look finds the slice over: there are as many turns as can be.
          clock.stepMs = 100
          const subject = await openEngine({ scheduler: clock })
          // Answers in one slice each, so that they come in the order of the commits.
          const reference = await openEngine({ scheduler: new VirtualClock() })
          for (const engine of [subject, reference]) {
            const all = Array.from({ length: 600 }, (_, i) => model(i + 1, (i * 37) % 101))
            await put(engine.database('p'), engine.context(), all)
          }
          const answers = [await ask(reference.database('p'), reference.context())]
          const left = [...changes]
          const committed: Promise<unknown>[] = []
          clock.onTurn = () => {
            const change = left.pop()
            if (change === undefined) return
            const [id, x] = change
            const mutation =
              x === null
                ? ({ operation: 'delete', key: keyOf(id) } as const)
                : ({ operation: 'upsert', entity: model(id, x) } as const)
            for (const engine of [subject, reference]) {
              const done = engine
                .database('p')
                .commit(engine.context(), { mode: 'nonTransactional', mutations: [mutation] })
              if (engine === reference)
                committed.push(
                  Promise.resolve(done).then(async () => {
                    answers.push(await ask(reference.database('p'), reference.context()))
                  }),
                )
            }
          }
          const answer = await ask(subject.database('p'), subject.context())
          clock.onTurn = () => {}
          await Promise.all(committed)
          expect(answers.includes(answer)).toBe(true)
          // What was made meanwhile is whole: the next answer, of now, has all of it.
          expect(await ask(subject.database('p'), subject.context())).toBe(answers.at(-1))
          await Promise.all([subject.close(), reference.close()])
        },
      ),
      { numRuns: runs(3) },
    )
  },
)

describe('a large commit', () => {
  const keys = (count: number) => Array.from({ length: count }, (_, i) => keyOf(i + 1))

  test('on disk hands over its rows in slices; until it is answered each call finds nothing of it', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'sixtables-slices-'))
    const clock = new TurnClock()
    const engine = await openEngine({ dir, scheduler: clock })
    const database = engine.database('p')
    const looked = vi.spyOn(IndexPatterns.prototype, 'noteCommitted')
    const appending = vi.spyOn(CommitLog.prototype, 'append')
    onTestFinished(() => {
      looked.mockRestore()
      appending.mockRestore()
    })
    const count = 60
    const properties = (id: number) =>
      Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`p${i}`, integer(id + i)]))
    const lookUp = async (): Promise<number> =>
      (await database.lookup(engine.context(), { keys: keys(count) })).found.length
    const found: Promise<number>[] = []
    let appended = 0
    clock.onTurn = () => {
      if (appending.mock.calls.length > 0) appended++
      found.push(lookUp())
    }
    const mutations = keys(count).map((_, i) => ({
      operation: 'upsert' as const,
      entity: entityOf(i + 1, properties(i)),
    }))
    await database.commit(engine.context(), { mode: 'nonTransactional', mutations })
    clock.onTurn = () => {}
    // 12,000 index rows.
    expect(appended).toBeGreaterThanOrEqual(2)
    expect(new Set(await Promise.all(found))).toEqual(new Set([0]))
    expect(await lookUp()).toBe(count)
    // Of so many index rows only some are looked at, in a later turn, and stand for the others.
    await vi.waitFor(() => expect(looked).toHaveBeenCalled())
    const [[picked = []] = []] = looked.mock.calls
    expect(picked.length).toBeGreaterThanOrEqual(20)
    expect(picked.reduce((rows, { change }) => rows + change.count, 0)).toBeLessThanOrEqual(4096)
    expect(picked.reduce((entities, { standsFor }) => entities + standsFor, 0)).toBe(count)
    await engine.close()
    await rm(dir, { recursive: true })
  })
})
