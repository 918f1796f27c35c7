/** Calls for many ids, which take several turns, beside a reset or a restore at each of these turns. */
import { afterEach, expect, test } from 'vitest'
import { type Engine, openEngine } from '../engine/engine.ts'
import { IdAllocator } from '../ids/allocator.ts'
import { Superseded } from '../log/log-database.ts'
import type { Key } from '../model/key.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { AsyncKv } from '../testing/async-kv.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import type { Database } from './database.ts'
import { reserveKeys } from './key-ids.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const keyOf = (id?: bigint, kind = 'A'): Key => ({ partition, path: [id === undefined ? { kind } : { kind, id }] })
const idOf = (key: Key | undefined): bigint => key?.path[0]?.id ?? 0n

const count = 10_000
const turns = 10

let engine: Engine
afterEach(() => engine.close())

const ways: readonly (readonly [name: string, begin: () => Promise<() => Promise<void>>])[] = [
  ['a reset of the store', async () => () => engine.reset()],
  ['a reset of the project', async () => () => engine.reset({ projectId: 'p' })],
  [
    'a restore',
    async () => {
      const empty = await engine.snapshot()
      return () => engine.restore(empty)
    },
  ],
]

/** Makes a call, and lets the rows go at a turn of it. @returns the answer, and whether it came later than that of `letGo` */
async function beside<T>(turn: number, letGo: () => Promise<void>, call: (database: Database) => T | Promise<T>) {
  // All counters at 1.
  await letGo()
  let isOver = false
  const going = Promise.resolve(call(engine.database('p'))).finally(() => {
    isOver = true
  })
  for (let i = 0; i < turn; i++) await new Promise((resolve) => setImmediate(resolve))
  await letGo()
  const isLater = !isOver
  return { answer: await going, isLater }
}

test.each(ways)('allocator/I4: a call that %s overtakes gets no id twice', async (_, begin) => {
  engine = await openEngine({ scheduler: new VirtualClock() })
  const letGo = await begin()
  const keys = Array.from({ length: count }, () => keyOf())
  let later = 0
  for (let turn = 0; turn < turns; turn++) {
    const { answer, isLater } = await beside(turn, letGo, (database) => database.allocateIds(engine.context(), keys))
    expect(new Set(answer.map(idOf)).size, `turn ${turn}`).toBe(count)
    if (isLater) later++
  }
  expect(later).toBeGreaterThan(turns / 4)
})

test.each(ways)('allocator/I5: a call that %s overtakes reserves all its ids', async (_, begin) => {
  engine = await openEngine({ scheduler: new VirtualClock() })
  const letGo = await begin()
  // The greatest first: what is reserved after it does not reserve it too.
  const keys = Array.from({ length: count }, (_, i) => keyOf(BigInt(count - i)))
  let later = 0
  for (let turn = 0; turn < turns; turn++) {
    const { isLater } = await beside(turn, letGo, (database) => database.reserveIds(engine.context(), keys))
    if (!isLater) continue
    later++
    const { start } = await engine.database('p').allocateIdsBySize(engine.context(), keyOf(), 1n)
    expect(start, `turn ${turn}`).toBeGreaterThan(BigInt(count))
  }
  expect(later).toBeGreaterThan(turns / 4)
})

test('allocator/I5: a call for two kinds whose counters are forgotten meanwhile is repeated', async () => {
  engine = await openEngine()
  const ids = new IdAllocator({ kv: new AsyncKv(new MemoryKv()) })
  const database = { projectId: 'p', databaseId: '', settings: { mode: 'firestore' as const } }
  const keys = ['A', 'B'].map((kind) => keyOf(100n, kind))
  const reserving = reserveKeys({ context: engine.context(), database, ids }, keys)
  ids.forget()
  await expect(reserving).rejects.toThrow(Superseded)
})

test('a wrong key among others is refused before an id is given or reserved', async () => {
  engine = await openEngine({ scheduler: new VirtualClock() })
  const database = engine.database('p')
  const refused = expect.objectContaining({ code: 'INVALID_ARGUMENT' })
  const wrong: readonly Key['path'][] = [[{ kind: 'ToDo', id: 1n }], [{ kind: 'User' }, { kind: 'ToDo' }]]
  for (const path of wrong) {
    expect(() => database.allocateIds(engine.context(), [keyOf(), { partition, path }])).toThrow(refused)
  }
  const keys: readonly Key[] = [{ partition, path: [{ kind: 'ToDo', id: 5n }] }, keyOf()]
  expect(() => database.reserveIds(engine.context(), keys)).toThrow(refused)
  const next = await database.nextIds(engine.context(), { partition, path: [{ kind: 'ToDo' }] })
  expect([next.scattered.counter, next.sequential.counter]).toEqual([1n, 1n])
})
