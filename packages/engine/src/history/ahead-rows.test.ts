/** Reads of a store as if all waiting commits were applied. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { mutationOf } from '../../test/property/log-world.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import type { Key } from '../model/key.ts'
import { sliceWorkMax } from '../slices.ts'
import { query } from '../testing/query-world.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'

const clock = new VirtualClock()
let engine: Engine

beforeEach(async () => {
  engine = await openEngine({ scheduler: clock, apply: { type: 'manual' } })
})
afterEach(() => engine.close())

const waiting = 1_500

async function put(value: number, from = 1): Promise<void> {
  const keyOf = (id: number): Key => ({
    partition: { projectId: 'p', databaseId: '', namespaceId: '' },
    path: [{ kind: 'A', id: BigInt(id) }],
  })
  const mutations = Array.from({ length: waiting }, (_, i) => mutationOf(keyOf(from + i), value))
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
}

const newest = () =>
  engine.database('p').runQuery(engine.context(), {
    query: query({ kind: 'A', order: ['v desc'], limit: 1 }),
    read: { ahead: true },
  })

test('the rows of waiting commits are made in slices', async () => {
  await put(1)
  const turns = vi.spyOn(clock, 'defer')
  expect((await newest()).results).toHaveLength(1)
  // Each entity has a row of its kind, and two of its value.
  expect(turns.mock.calls.length).toBeGreaterThanOrEqual(Math.floor((3 * waiting) / sliceWorkMax))
})

test('commits and applies between two slices change nothing that the read sees', async () => {
  await put(1)
  const reading = newest()
  await put(2, waiting + 1)
  await engine.inspector.releaseAll()
  const [found] = (await reading).results
  expect(found?.key.path[0]?.id).toBeLessThanOrEqual(waiting)
})
