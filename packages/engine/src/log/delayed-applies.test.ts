/** Records of a large commit that its policy applies at one moment are applied some in a turn, with other calls in between. */
import { afterEach, expect, test, vi } from 'vitest'
import { mutationOf, worldKeys } from '../../test/property/log-world.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import { sliceWorkMax } from '../slices.ts'
import { query } from '../testing/query-world.ts'
import { turnScheduler } from '../testing/turn-scheduler.ts'
import { Applier } from './apply.ts'
import type { ApplyPolicy } from './apply-policy.ts'

let engine: Engine

afterEach(async () => {
  vi.restoreAllMocks()
  await engine.close()
})

test.each<[string, ApplyPolicy, begin: () => Promise<unknown>]>([
  ['when its delay is over', { type: 'time', delayMs: 100 }, () => Promise.resolve()],
  [
    'before a query',
    { type: 'probability', chance: 1 },
    () => Promise.resolve(engine.database('p').runQuery(engine.context(), { query: query({ kind: 'G' }) })),
  ],
])('%s', async (_, apply, begin) => {
  const count = 2000
  engine = await openEngine({ apply, scheduler: turnScheduler(() => {}) })
  const mutations = Array.from({ length: count }, (_, i) =>
    mutationOf({ ...worldKeys[0], path: [{ kind: 'G', id: BigInt(i + 1) }] }, 1),
  )
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
  const step = vi.spyOn(Applier.prototype, 'step')
  const begun = begin()
  for (let before = 0; before < count; ) {
    const now = step.mock.calls.length
    expect(now - before).toBeLessThanOrEqual(sliceWorkMax / 8)
    before = now
    await new Promise((resolve) => setImmediate(resolve))
  }
  await begun
  expect(await engine.check()).toMatchObject({ pending: [], problemCount: 0 })
})

test('records that a restore makes pending again share a timer', async () => {
  const scheduler = turnScheduler(() => {})
  engine = await openEngine({ apply: { type: 'time', delayMs: 100 }, scheduler })
  const mutations = Array.from({ length: 50 }, (_, i) =>
    mutationOf({ ...worldKeys[0], path: [{ kind: 'G', id: BigInt(i + 1) }] }, 1),
  )
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
  const snapshot = await engine.snapshot()
  const sleep = vi.spyOn(scheduler, 'sleep')
  await engine.restore(snapshot)
  expect(sleep.mock.calls.filter(([ms]) => ms === 100)).toHaveLength(1)
})
