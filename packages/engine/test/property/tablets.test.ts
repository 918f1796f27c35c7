/** tablet-map/T1, fleet/F1: whatever is asked of tablets, they partition the rows, keep rows whole, and lose no operation. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { tabletSettings } from '../../src/observe/tablets/defaults.ts'
import { TabletFleet } from '../../src/observe/tablets/fleet.ts'
import type { Tablet } from '../../src/observe/tablets/tablet.ts'
import { seededRandom } from '../../src/random.ts'

const table = 'Entities'
const startMs = 1_700_000_000_000

type Step =
  | { readonly type: 'charge'; readonly key: string; readonly weight: number; readonly spreadMs: number }
  | { readonly type: 'split'; readonly key: string }
  | { readonly type: 'merge'; readonly place: number }
  | { readonly type: 'move'; readonly place: number; readonly server: number }
  | { readonly type: 'wait'; readonly ms: number }

const key = fc
  .string({ unit: fc.constantFrom('a', 'b', 'c', '\x00', '\xff'), minLength: 1, maxLength: 4 })
  .map((s) => `E${s}`)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('charge' as const),
      key,
      weight: fc.integer({ min: 1, max: 5_000 }),
      spreadMs: fc.constantFrom(0, 0, 300, 1_000, 7_500),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('split' as const), key }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('merge' as const), place: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('move' as const), place: fc.nat(20), server: fc.nat(3) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('wait' as const),
      ms: fc.constantFrom(50, 250, 1_000, 30_000, 4_000_000),
    }),
  },
)

function world(settings = {}) {
  const fleet = new TabletFleet(
    tabletSettings({
      simulate: true,
      servers: 4,
      windowMs: 10_000,
      reportWindowMs: 5_000,
      samplesMin: 4,
      splitOpsPerSecond: 50,
      mergeOpsPerSecond: 5,
      ...settings,
    }),
    seededRandom(1),
    startMs,
  )
  let nowMs = startMs
  let given = 0
  const tablets = (): readonly Tablet[] => fleet.map.tabletsOf(table)
  return {
    fleet,
    tablets,
    given: () => given,
    run(one: Step): void {
      fleet.advance(nowMs)
      const at = (place: number): Tablet | undefined => tablets()[place % Math.max(1, tablets().length)]
      switch (one.type) {
        case 'charge': {
          const charge = {
            rowKey: one.key,
            reads: 1,
            writes: 1,
            bytes: 9,
            cost: 2,
            weight: one.weight,
            spreadMs: one.spreadMs,
          }
          fleet.charge(nowMs, fleet.tabletOf(table, one.key), charge)
          given += 2 * one.weight
          return
        }
        case 'split':
          fleet.tabletOf(table, one.key)
          fleet.split(nowMs, table, one.key, 'asked', 'asked')
          return
        case 'merge': {
          const left = at(one.place)
          if (left !== undefined) fleet.merge(nowMs, left, 'asked', 'asked')
          return
        }
        case 'move': {
          const tablet = at(one.place)
          if (tablet !== undefined) fleet.move(nowMs, tablet, one.server, 'asked', 'asked')
          return
        }
        case 'wait':
          nowMs += one.ms
          fleet.advance(nowMs)
      }
    },
  }
}

describe('through any sequence of charges, splits, merges, moves and waits', () => {
  test('tablets partition the row keys, and a row has exactly one of them (tablet-map/T1)', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.array(key, { minLength: 1, maxLength: 10 }), (steps, keys) => {
        const { fleet, run, tablets } = world()
        for (const one of steps) {
          run(one)
          fleet.map.check()
        }
        for (const rowKey of keys) {
          const home = fleet.tabletOf(table, rowKey)
          const holders = tablets().filter(({ start, end }) => start <= rowKey && (end === undefined || rowKey < end))
          expect(holders).toEqual([home])
          const [only, ...more] = fleet.map.tabletsBetween(table, rowKey, rowKey)
          expect([only, more.length]).toEqual([home, 0])
        }
        expect(new Set(tablets().map(({ id }) => id)).size).toBe(tablets().length)
      }),
      { numRuns: runs(200) },
    )
  })

  test('operations are conserved: what was charged has flowed to the tablets, or is on its way (fleet/F1)', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { fleet, run, tablets, given } = world()
        for (const one of steps) run(one)
        const sum = (): number => tablets().reduce((total, tablet) => total + tablet.total, 0)
        expect(sum()).toBeCloseTo(fleet.charged, 3)
        expect(fleet.charged).toBeLessThanOrEqual(given() + 1e-3)
        run({ type: 'wait', ms: 8_000 })
        expect(fleet.charged).toBeCloseTo(given(), 3)
        expect(sum()).toBeCloseTo(given(), 3)
        for (const server of fleet.servers) expect(server.flow).toBeCloseTo(0, 3)
      }),
      { numRuns: runs(200) },
    )
  })

  test('the history of heat has what was charged in the last minute', () => {
    const now = fc.record({
      type: fc.constant('charge' as const),
      key,
      weight: fc.integer({ min: 1, max: 50 }),
      spreadMs: fc.constant(0),
    })
    fc.assert(
      fc.property(
        fc.array(fc.oneof(now, fc.constant({ type: 'wait' as const, ms: 5_000 })), { maxLength: 60 }),
        (steps) => {
          const { fleet, run } = world({ heatRowsMax: 4 })
          const begin = Math.floor(startMs / 60_000)
          let given = 0
          for (const one of steps) {
            run(one)
            if (one.type === 'charge') given += 2 * one.weight
          }
          const rows = fleet.heat.cells(table, 2, begin, 10, 100)
          const sum = rows
            .flatMap(({ measures: [reads = [], writes = []] }) => [...reads, ...writes])
            .reduce((a, b) => a + b, 0)
          expect(sum).toBeCloseTo(given, 1)
          for (const [i, { start, end }] of rows.entries()) {
            expect(start).toBe(i === 0 ? '' : rows[i - 1]?.end)
            if (i === rows.length - 1) expect(end).toBeUndefined()
          }
        },
      ),
      { numRuns: runs(100) },
    )
  })
})

test('what still flows when its tablet is split flows to the half that has its row', () => {
  const { fleet, run, tablets } = world()
  run({ type: 'charge', key: 'Eb', weight: 100, spreadMs: 7_500 })
  run({ type: 'split', key: 'Eb' })
  run({ type: 'charge', key: 'Ea', weight: 1, spreadMs: 7_500 })
  run({ type: 'wait', ms: 8_000 })
  expect(tablets().map(({ total }) => Math.round(total))).toEqual([2, 200])
  expect(fleet.charged).toBeCloseTo(202, 3)
})
