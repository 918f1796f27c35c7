import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { entity, integer, keyOf, property } from '../../../test/property/entity-messages.ts'
import { type Engine, openEngine } from '../../engine/engine.ts'
import { sliceWorkMax } from '../../slices.ts'
import { turnScheduler } from '../../testing/turn-scheduler.ts'
import { TabletFleet } from './fleet.ts'
import { RowCounts } from './row-counts.ts'

let engine: Engine

afterEach(async () => {
  vi.restoreAllMocks()
  await engine.close()
})

const count = 5000

/** Puts entities, all in one group or each in its own. @param everyTurn - called in each turn until the commit is answered */
async function commit(inOneGroup: boolean, everyTurn: (turn: number) => void): Promise<void> {
  const root = inOneGroup ? [{ kind: 'User', id: 1n }] : []
  const mutations = Array.from({ length: count }, (_, i) => {
    const key = keyOf([...root, { kind: 'ToDo', id: BigInt(i + 1) }])
    return { operation: 'upsert', entity: entity(key, property('v', integer(i))) } as const
  })
  let isDone = false
  const done = Promise.resolve(
    engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations }),
  ).finally(() => {
    isDone = true
  })
  for (let turn = 0; !isDone; turn++) {
    await nextTurn()
    everyTurn(turn)
  }
  await done
}

/** Expects that the rows of each table are as many as when the store is counted anew. */
async function expectAllCounted(): Promise<void> {
  const rowsOf = () => Object.fromEntries(engine.tablets.report().tables.map(({ table, rows }) => [table, rows]))
  const counted = rowsOf()
  expect(counted).toMatchObject({ Entities: count, EntitiesByKind: count })
  engine.tablets.recount()
  await engine.tablets.counted()
  expect(rowsOf()).toMatchObject(counted)
}

test.each([
  { watched: 'rows', inOneGroup: false },
  { watched: 'rows', inOneGroup: true },
  { watched: 'heat', inOneGroup: false },
  { watched: 'heat', inOneGroup: true },
])('a large commit is counted in slices ($watched, in one group: $inOneGroup)', async ({ watched, inOneGroup }) => {
  engine = await openEngine({ scheduler: turnScheduler(() => {}) })
  if (watched === 'heat') engine.tablets.watchHeat()
  await engine.tablets.counted()
  const noted = vi.spyOn(RowCounts.prototype, 'note')
  const charged = vi.spyOn(TabletFleet.prototype, 'charge')
  let [longest, before] = [0, 0]
  await commit(inOneGroup, () => {
    const counted = noted.mock.calls.length + charged.mock.calls.length
    longest = Math.max(longest, counted - before)
    before = counted
  })
  // A slice that a commit begins ends with the first slice of counting it.
  if (longest > 2 * sliceWorkMax) expect.fail(`one turn counted ${longest} rows`)
  await expectAllCounted()
})

test.each([
  { noted: 'a part of its log rows', notes: count / 2 },
  { noted: 'a part of its other rows', notes: 2 * count },
])('rows that are counted anew when $noted are noted are counted once', async ({ notes }) => {
  engine = await openEngine({ scheduler: turnScheduler(() => {}) })
  await engine.tablets.counted()
  const noted = vi.spyOn(RowCounts.prototype, 'note')
  let isRecounted = false
  await commit(false, () => {
    if (isRecounted || noted.mock.calls.length < notes) return
    isRecounted = true
    engine.tablets.recount()
  })
  await engine.tablets.counted()
  expect(isRecounted).toBe(true)
  await expectAllCounted()
})
