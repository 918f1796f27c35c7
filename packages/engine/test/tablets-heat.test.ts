/** Heat by the second under a whole engine: exact counts, measures of a simulation, levels of row keys, places of events. */
import { afterEach, expect, test } from 'vitest'
import { type Engine, openEngine } from '../src/engine/engine.ts'
import type { EngineOptions } from '../src/engine/engine-options.ts'
import { heatMeasures } from '../src/observe/tablets/heat-range.ts'
import type { HeatReader } from '../src/observe/tablets/heat-reader.ts'
import type { HeatRecordingReport } from '../src/observe/tablets/report.ts'
import { VirtualClock } from '../src/testing/virtual-clock.ts'
import { entity, integer, keyOf, property } from './property/entity-messages.ts'

let engine: Engine
let clock: VirtualClock
let reader: HeatReader

async function open(tablets: NonNullable<EngineOptions['tablets']>): Promise<void> {
  clock = new VirtualClock()
  engine = await openEngine({ scheduler: clock, tablets })
  reader = engine.tablets.watchHeat()
}

afterEach(() => engine.close())

async function put(id: number, context = engine.context()): Promise<void> {
  const key = keyOf([{ kind: 'ToDo', id: BigInt(id) }])
  const mutations = [{ operation: 'upsert', entity: entity(key, property('v', integer(id))) } as const]
  await engine.database('p').commit(context, { mode: 'nonTransactional', mutations })
}

function sum(report: HeatRecordingReport, table: string, measure: (typeof heatMeasures)[number]): number {
  const place = 2 + heatMeasures.indexOf(measure)
  const cells = report.columns.filter((column) => column.table === table).flatMap((column) => column.cells)
  return cells.reduce((all, cell) => all + (cell[place] as number), 0)
}

test('every operation is counted while heat is watched, and a sample of them after that', async () => {
  await open({ exactPerSecond: 10 })
  for (let id = 1; id <= 200; id++) await put(id)
  await clock.advance(1000)
  const report = await reader.read(engine.context())
  expect([sum(report, 'Entities', 'writes'), sum(report, 'Entities', 'reads')]).toEqual([200, 200])
  reader.end()
  let charged = 0
  engine.tablets.onSample(() => charged++)
  for (let id = 1; id <= 200; id++) await put(id)
  expect(charged).toBeLessThan(200)
})

test.each([10_000, 20])(
  'reports of a reader that knows %i bounds add up to a whole one (heat-reader/HD1)',
  async (knownMax) => {
    await open({ simulate: true, waits: false })
    reader.knownMax = knownMax
    const reports = [await reader.read(engine.context())]
    for (let second = 0; second < 20; second++) {
      for (let i = 0; i < 30; i++) await put(second * 30 + i + 1)
      await clock.advance(1000)
      if (second % 3 === 0) reports.push(await reader.read(engine.context()))
    }
    engine.tablets.compact('Entities')
    reports.push(await reader.read(engine.context()))
    expect(reports.map(({ isWhole }) => isWhole)).toEqual([true, ...reports.slice(1).map(() => false)])
    const shown = (all: readonly HeatRecordingReport[]) => {
      const bounds = all.flatMap((one) => one.bounds)
      const columns = all.flatMap((one) => one.columns)
      return {
        columns: columns.map((column) => ({
          ...column,
          cells: column.cells.map(([start, end, ...rest]) => [bounds[start], bounds[end], ...rest]),
        })),
        events: all.flatMap((one) => one.events),
        tablets: (all.findLast((one) => one.tablets !== undefined)?.tablets ?? []).map(({ start, end, ...rest }) => ({
          start: bounds[start],
          end: bounds[end],
          ...rest,
        })),
      }
    }
    expect(shown(reports)).toEqual(shown([await engine.tablets.heatRecording(engine.context())]))
    expect(shown(reports).events.map(({ kind }) => kind)).toContain('compaction')
    const [column] = reports.at(-1)?.columns.filter(({ table }) => table === 'EntitiesByPropertyAsc') ?? []
    const [start = 0] = column?.cells.at(-1) ?? []
    expect(reports.flatMap(({ bounds }) => bounds)[start]).toMatchObject({
      levels: ['p', '', 'ToDo', expect.stringMatching(/^v=\d+ › ToDo:\d+$/)],
    })
  },
)

test('a reset of the store begins the recording anew', async () => {
  await open({ simulate: true, waits: false })
  await put(1)
  await clock.advance(1000)
  expect(sum(await reader.read(engine.context()), 'Entities', 'writes')).toBe(1)
  engine.tablets.reset()
  const { isWhole, columns } = await reader.read(engine.context())
  expect({ isWhole, columns }).toEqual({ isWhole: true, columns: [] })
})

test('waits and refusals of a simulation lie at the rows that they met', async () => {
  await open({ simulate: true, waits: false, servers: 1, opsPerSecond: 100, queueMsMax: 500 })
  let refused = 0
  for (let id = 1; id <= 100; id++) await put(id).catch(() => refused++)
  await clock.advance(1000)
  const report = await reader.read(engine.context())
  expect(refused).toBeGreaterThan(0)
  expect(sum(report, 'Entities', 'refused')).toBeGreaterThanOrEqual(refused)
  expect(sum(report, 'Entities', 'waitMs')).toBeGreaterThan(0)
})

test('a split tells the bytes of its place, and a merge those of the bound that is gone', async () => {
  await open({ simulate: true, waits: false })
  await put(1)
  engine.tablets.split('Entities', 'Ep')
  const left = engine.tablets.report().tablets.find(({ table, end }) => table === 'Entities' && end !== '')
  engine.tablets.merge(left?.id ?? 0)
  expect(engine.tablets.events()).toMatchObject([
    { kind: 'split', atHex: '4570', startHex: '', endHex: '' },
    { kind: 'merge', atHex: '4570', startHex: '', endHex: '4570' },
  ])
})
