/** An entity group under simulation: its rate follows from the time of an append, and from conflicts. */
import { afterEach, expect, test } from 'vitest'
import type { Mode } from '../src/database/settings.ts'
import { type Engine, openEngine } from '../src/engine/engine.ts'
import { VirtualClock } from '../src/testing/virtual-clock.ts'
import { entity, integer, keyOf, property } from './property/entity-messages.ts'

let engine: Engine
let clock: VirtualClock

async function open(mode: Mode = 'firestore', commitLatencyMs = 100): Promise<void> {
  clock = new VirtualClock()
  engine = await openEngine({ scheduler: clock, mode, tablets: { simulate: true, commitLatencyMs, serviceMs: 0 } })
}

afterEach(() => engine.close())

const counter = (id: number) => keyOf([{ kind: 'Counter', id: BigInt(id) }])
/** Each writes another value: what changes nothing is not appended to a log. */
let value = 0
const write = (id: number) =>
  ({ operation: 'upsert', entity: entity(counter(id), property('v', integer(++value))) }) as const

function put(id: number): Promise<unknown> {
  const request = { mode: 'nonTransactional', mutations: [write(id)] } as const
  return Promise.resolve(engine.database('p').commit(engine.context(), request))
}

/** A read and a write of one entity in a transaction. */
async function increment(id: number): Promise<void> {
  const database = engine.database('p')
  const read = { newTransaction: { mode: 'readWrite' } } as const
  const { transaction } = await database.lookup(engine.context(), { keys: [counter(id)], read })
  await database.commit(engine.context(), {
    mode: 'transactional',
    mutations: [write(id)],
    ...(transaction === undefined ? {} : { transaction }),
  })
}

async function outcomes(work: readonly Promise<unknown>[], ms: number): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const note = (what: string): void => {
    counts[what] = (counts[what] ?? 0) + 1
  }
  for (const one of work) {
    one.then(
      () => note('ok'),
      (error: { code?: string }) => note(error.code ?? String(error)),
    )
  }
  for (let t = 0; t < ms; t += 100) await clock.advance(100)
  return counts
}

test('commits to one group take their turns, those to many groups do not wait', async () => {
  await open()
  const one = Array.from({ length: 20 }, () => put(1))
  // Ten appends of 100 ms; the last answer comes a moment later.
  const { ok = 0 } = await outcomes(one, 1_000)
  expect(ok).toBeGreaterThanOrEqual(8)
  expect(ok).toBeLessThanOrEqual(10)
  const [group] = engine.tablets.groups()
  expect(group).toMatchObject({ group: 'p, Counter:1' })
  expect(group?.waitsPerSecond).toBeGreaterThan(0)
  await clock.advance(2_000)
  const many = Array.from({ length: 20 }, (_, i) => put(i + 10))
  expect(await outcomes(many, 200)).toEqual({ ok: 20 })
})

test('who would queue for too long is told ABORTED in the end, with nothing written', async () => {
  await open()
  const all = Array.from({ length: 60 }, () => put(1))
  expect(await outcomes(all, 5_900)).toEqual({ ok: 51, ABORTED: 9 })
  expect(engine.tablets.report().tables.find(({ table }) => table === 'Log')?.rows).toBe(51)
  expect(engine.tablets.groups()[0]?.conflictsPerSecond).toBeGreaterThan(0)
})

test('optimistic transactions on one group: one commits in each round, the others conflict', async () => {
  await open('legacy')
  const all = Array.from({ length: 8 }, () => increment(1))
  expect(await outcomes(all, 1_500)).toEqual({ ok: 1, ABORTED: 7 })
})

test('commits over two groups in opposite order do not wait in a circle', async () => {
  await open()
  const both = (a: number, b: number): Promise<unknown> => {
    const request = {
      mode: 'transactional',
      singleUse: { mode: 'readWrite' },
      mutations: [write(a), write(b)],
    } as const
    return Promise.resolve(engine.database('p').commit(engine.context(), request))
  }
  expect(await outcomes([both(1, 2), both(2, 1), both(1, 2)], 1_000)).toEqual({ ok: 3 })
})

test('without waits the time of an append is measured and no commit queues', async () => {
  await open()
  engine.tablets.configure({ waits: false })
  const all = Array.from({ length: 20 }, () => put(1))
  await Promise.all(all)
  await clock.advance(100)
  expect(engine.tablets.report().requests.latencyP50Ms).toBeGreaterThan(100)
})

test('a write that waits for its turn still waits for the lock of a transaction that came meanwhile', async () => {
  await open()
  await Promise.all([put(1), clock.advance(200)])
  const waiting = [put(1), put(1)]
  const database = engine.database('p')
  const read = { newTransaction: { mode: 'readWrite' } } as const
  const found = database.lookup(engine.context(), { keys: [counter(1)], read })
  const { transaction } = await clock.advance(20).then(() => found)
  expect(await outcomes(waiting, 1_000)).toEqual({})
  const ended = database.rollback(engine.context(), transaction ?? new Uint8Array(0))
  expect(await outcomes([...waiting, Promise.resolve(ended)], 1_000)).toEqual({ ok: 3 })
})
