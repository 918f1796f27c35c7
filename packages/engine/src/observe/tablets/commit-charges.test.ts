import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { array, entity, integer, keyOf, property } from '../../../test/property/entity-messages.ts'
import { CountingLedger } from '../../context.ts'
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
function commit(inOneGroup: boolean, everyTurn: (turn: number) => void): Promise<void> {
  const root = inOneGroup ? [{ kind: 'User', id: 1n }] : []
  const entities = Array.from({ length: count }, (_, i) => {
    const key = keyOf([...root, { kind: 'ToDo', id: BigInt(i + 1) }])
    return entity(key, property('v', integer(i)))
  })
  return put(entities, everyTurn)
}

async function put(entities: readonly Uint8Array[], everyTurn: (turn: number) => void): Promise<void> {
  const mutations = entities.map((message) => ({ operation: 'upsert', entity: message }) as const)
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
  engine.tablets.rows.recount()
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
  const countedInTurn = countedByTurn()
  await commit(inOneGroup, countedInTurn)
  await expectAllCounted()
})

test('a large commit is charged in slices while rows are not counted, and before its answer', async () => {
  engine = await openEngine({ scheduler: turnScheduler(() => {}) })
  const charged = vi.spyOn(CountingLedger.prototype, 'charge')
  let before = 0
  await commit(false, () => {
    expect(charged.mock.calls.length - before).toBeLessThan(count)
    before = charged.mock.calls.length
  })
  const logRows = charged.mock.calls.filter(([table]) => table === 'Log')
  expect(logRows).toHaveLength(count)
  // With some of the statistics.
  expect(engine.tablets.commits.rowsApplied).toBeGreaterThanOrEqual(4 * count)
})

test('a small commit is answered while a large one is charged', async () => {
  engine = await openEngine({ scheduler: turnScheduler(() => {}) })
  const charged = vi.spyOn(CountingLedger.prototype, 'charge')
  const logRows = (): number => charged.mock.calls.filter(([table]) => table === 'Log').length
  let whenAnswered: Promise<number> | undefined
  await commit(false, () => {
    if (logRows() < sliceWorkMax) return
    const mutations = [{ operation: 'upsert', entity: entity(keyOf([{ kind: 'Note', id: 1n }])) }] as const
    const small = engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
    whenAnswered ??= Promise.resolve(small).then(logRows)
  })
  expect(await whenAnswered).toBeLessThan(count)
})

test('the charges of a large commit end when a reset deletes it', async () => {
  engine = await openEngine({ scheduler: turnScheduler(() => {}) })
  const charged = vi.spyOn(CountingLedger.prototype, 'charge')
  let reset: Promise<void> | undefined
  await commit(false, () => {
    if (charged.mock.calls.some(([table]) => table === 'Log')) reset ??= engine.reset()
  })
  await reset
  expect(engine.tablets.report().tables).toEqual([])
})

/** Expects, in each turn, that few rows were charged and noted in it. */
function countedByTurn(): () => void {
  const noted = vi.spyOn(RowCounts.prototype, 'note')
  const charged = vi.spyOn(TabletFleet.prototype, 'charge')
  let before = 0
  return () => {
    const counted = noted.mock.calls.length + charged.mock.calls.length
    // A slice that a commit begins ends with the first slice of counting it.
    if (counted - before > 2 * sliceWorkMax) expect.fail(`one turn counted ${counted - before} rows`)
    before = counted
  }
}

test.each(['rows', 'heat'])(
  'an entity with 19,000 values is counted in slices, also when they change (%s)',
  async (watched) => {
    engine = await openEngine({ scheduler: turnScheduler(() => {}) })
    if (watched === 'heat') engine.tablets.watchHeat()
    await engine.tablets.counted()
    const countedInTurn = countedByTurn()
    for (const first of [0, 50_000]) {
      const values = Array.from({ length: 19_000 }, (_, i) => integer(first + i))
      await put([entity(keyOf([{ kind: 'ToDo', id: 1n }]), property('v', array(...values)))], countedInTurn)
    }
    const rows = engine.tablets.report().tables.map(({ table, rows }) => [table, rows])
    expect(Object.fromEntries(rows)).toMatchObject({
      Entities: 1,
      EntitiesByPropertyAsc: 19_000,
      EntitiesByPropertyDesc: 19_000,
    })
    const writes = engine.tablets.all().reduce((sum, { total }) => sum + total, 0)
    // The entity twice, its row of the kind, its property rows, and two records; its reads.
    if (watched === 'heat') expect(writes).toBeGreaterThanOrEqual(6 * 19_000)
  },
)

test('after entities with many rows the next operation is taken, as after others, and stands for itself', async () => {
  engine = await openEngine({ scheduler: turnScheduler(() => {}) })
  engine.tablets.watchHeat()
  await engine.tablets.counted()
  for (const values of [10, 400]) {
    const many = property('v', array(...Array.from({ length: values }, (_, i) => integer(i))))
    await put(
      [1n, 2n, 3n].map((id) => entity(keyOf([{ kind: 'ToDo', id }]), many)),
      () => {},
    )
    expect(engine.tablets.metering.countdown).toBe(1)
  }
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
    engine.tablets.rows.recount()
  })
  await engine.tablets.counted()
  expect(isRecounted).toBe(true)
  await expectAllCounted()
})
