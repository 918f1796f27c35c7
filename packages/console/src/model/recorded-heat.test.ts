import type { HeatBound, HeatCellReport } from '@sixtables/engine'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HeatAxis, rowsMax } from './heat-axis.ts'
import { cellValue, type Metric, metrics, pixelsOf, planeOf, rowLoads } from './heat-plane.ts'
import { colourTable, heatColour, heatShare, roundMost } from './heat-scale.ts'
import { boundsOf as boundsOfCell, HeatRecording, parseRecording, type Report } from './recorded-heat.ts'

/** Bounds 01, 02, … behind the open end. */
const boundsOf = (count: number): HeatBound[] => [
  { hex: '', words: '', levels: [] },
  ...Array.from({ length: count }, (_, i) => {
    const hex = (i + 1).toString(16).padStart(4, '0')
    return { hex, words: `Entities › p › ToDo:${i + 1}`, levels: ['p', '', 'ToDo', `ToDo:${i + 1}`] }
  }),
]

const whole = (bounds: readonly HeatBound[], columns: readonly object[], atMs: number): Report => ({
  format: 'sixtables-heat-1',
  isWhole: true,
  atMs,
  simulated: false,
  scale: 1,
  bounds,
  columns: columns as Report['columns'],
  events: [],
})

const boundCount = 40
/** Columns of disjoint, ascending cells, one a second. */
const columns = fc
  .array(
    fc
      .uniqueArray(fc.nat(boundCount), { minLength: 2, maxLength: 12 })
      .chain((places) =>
        fc.tuple(
          fc.constant([...places].sort((a, b) => a - b)),
          fc.array(fc.tuple(...Array.from({ length: 6 }, () => fc.nat(1000))), { minLength: 6, maxLength: 6 }),
        ),
      ),
    { minLength: 1, maxLength: 20 },
  )
  .map((all): Report['columns'] =>
    all.map(([places, values], i) => ({
      table: 'Entities',
      atMs: 1_000_000 + i * 1000,
      stepMs: 1000,
      cells: values.flatMap((numbers, c) => {
        const [start, end] = [places[2 * c], places[2 * c + 1]]
        return start === undefined || end === undefined ? [] : [[start, end, ...numbers] as unknown as HeatCellReport]
      }),
    })),
  )

function loaded(given: Report['columns']) {
  const recording = new HeatRecording()
  recording.add(whole(boundsOf(boundCount), given, 2_000_000))
  const all = recording.tables.get('Entities') ?? []
  const axis = new HeatAxis()
  axis.add(
    all.flatMap((column) =>
      Array.from({ length: column.ends.length / 2 }, (_, cell) => boundsOfCell(column, cell)).flat(),
    ),
    () => rowLoads(all, axis),
  )
  return { recording, all, axis }
}

const time = { fromMs: 1_000_000, toMs: 2_000_000 }

describe('a recording', () => {
  test('is the same after it was saved and opened (recorded-heat/HR1)', () => {
    fc.assert(
      fc.property(columns, (given) => {
        const { recording } = loaded(given)
        const saved = recording.saved()
        const opened = new HeatRecording()
        opened.add(parseRecording(JSON.stringify(saved)))
        expect(opened.saved()).toEqual(saved)
        expect(saved.columns.map(({ cells }) => cells.map((cell) => cell.slice(2)))).toEqual(
          given.map(({ cells }) => cells.map((cell) => cell.slice(2))),
        )
      }),
      { numRuns: 30 },
    )
  })

  test('keeps an hour of seconds, and coarser columns beyond (recorded-heat/HR3)', () => {
    const recording = new HeatRecording()
    const column = (atMs: number, stepMs: number) => ({ table: 'Log', atMs, stepMs, cells: [[0, 0, 1, 0, 0, 0, 0, 0]] })
    recording.add(whole(boundsOf(0), [column(0, 60_000), column(60_000, 1000), column(4_000_000, 1000)], 4_000_000))
    expect(recording.tables.get('Log')?.map(({ atMs }) => atMs)).toEqual([0, 4_000_000])
  })

  test.each([
    ['{', 'it is not JSON'],
    ['{"a":1}', 'its format is not "sixtables-heat-1"'],
    ['{"format":"sixtables-heat-1","atMs":1}', 'bounds, columns, events or atMs are missing'],
    [
      '{"format":"sixtables-heat-1","atMs":1,"bounds":[],"events":[],"columns":[{"table":"Log","atMs":1,"stepMs":1,"cells":[[0,1]]}]}',
      'a column of Log is broken',
    ],
  ])('a file that is none is refused in words: %s', (text, words) => {
    expect(() => parseRecording(text)).toThrow(words)
  })
})

describe('the key axis', () => {
  test('has ascending bounds without gap or overlap, in whatever order they come (heat-axis/A1)', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(boundCount))), (additions) => {
        const bounds = boundsOf(boundCount)
        const axis = new HeatAxis()
        for (const addition of additions)
          axis.add(
            addition.map((i) => bounds[i] as HeatBound),
            () => [],
          )
        const hexes = Array.from({ length: axis.count }, (_, row) => axis.hexAt(row))
        const given = additions.flat().map((i) => (bounds[i] as HeatBound).hex)
        expect(hexes).toEqual([...new Set(['', ...given])].sort())
        for (const hex of given) expect(axis.hexAt(axis.rowOfHex(hex))).toBe(hex)
      }),
    )
  })

  test('makes room by joining cold neighbours, and keeps hot ones apart (heat-axis/A2)', () => {
    const bounds = boundsOf(60_000)
    const axis = new HeatAxis()
    const hot = [100, 101, 102, 40_000]
    axis.add(bounds, () => Float64Array.from({ length: axis.count }, (_, row) => (hot.includes(row) ? 1e6 : 1)))
    expect(axis.count).toBeLessThanOrEqual(rowsMax)
    for (const row of hot) {
      const { hex } = bounds[row] as HeatBound
      expect(axis.hexAt(axis.rowOfHex(hex))).toBe(hex)
    }
    const before = axis.version
    axis.add(bounds, () => [])
    expect(axis.version).toBe(before)
  })
})

describe('binning', () => {
  test('to rows keeps the sum of every column; a wait stays the longest (heat-plane/P1)', () => {
    fc.assert(
      fc.property(columns, fc.constantFrom<Metric>(...metrics), (given, metric) => {
        const { all, axis } = loaded(given)
        const plane = planeOf(all, axis, metric, time)
        for (const [c, column] of all.entries()) {
          const values = plane.values.subarray(c * plane.rows, (c + 1) * plane.rows)
          const total = metric === 'wait' ? Math.max(0, ...values) : values.reduce((sum, value) => sum + value, 0)
          const cells = Array.from({ length: column.ends.length / 2 }, (_, cell) => cellValue(column, cell, metric))
          const ofCells = metric === 'wait' ? Math.max(0, ...cells) : cells.reduce((sum, value) => sum + value, 0)
          expect(total).toBeCloseTo(ofCells, 1)
        }
      }),
      { numRuns: 30 },
    )
  })

  test('to pixels loses no peak and invents nothing, at any size (heat-plane/P3)', () => {
    const size = fc.integer({ min: 1, max: 90 })
    fc.assert(
      fc.property(columns, size, size, (given, width, height) => {
        const { all, axis } = loaded(given)
        const plane = planeOf(all, axis, 'writes', time)
        const window = { fromMs: 1_000_000, toMs: 1_000_000 + all.length * 1000, fromRow: 0, toRow: plane.rows }
        const pixels = new Float32Array(width * height)
        pixelsOf(plane, window, width, height, pixels)
        const there = new Set([...plane.values, 0])
        for (const value of pixels) expect(there.has(value)).toBe(true)
        expect(Math.max(...pixels)).toBe(Math.max(0, ...plane.values))
      }),
      { numRuns: 30 },
    )
  })

  test('tells time without load from time that was not recorded', () => {
    const cells = [[0, 0, 0, 5, 0, 0, 0, 0]] as const
    const { all, axis } = loaded([{ table: 'Entities', atMs: 1_002_000, stepMs: 1000, cells }])
    const plane = planeOf(all, axis, 'writes', { fromMs: 1_001_000, toMs: 1_004_000 })
    const pixels = new Float32Array(5)
    pixelsOf(plane, { fromMs: 1_000_000, toMs: 1_005_000, fromRow: 0, toRow: 1 }, 5, 1, pixels)
    expect([...pixels]).toEqual([-1, 0, 5, 0, -1])
  })
})

test('the scale rises in lightness, has one colour for nothing, and is round at its top', () => {
  const lightness = Array.from({ length: 101 }, (_, i) => {
    const [red, green, blue] = heatColour(i / 100)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  })
  for (let i = 1; i < lightness.length; i++) expect(lightness[i]).toBeGreaterThanOrEqual(lightness[i - 1] as number)
  expect([heatShare(0, 10), heatShare(10, 10), heatShare(2.5, 10), heatShare(5, 0)]).toEqual([0, 1, 0.5, 0])
  expect([0, 0.7, 1, 1.2, 1900, 2100].map(roundMost)).toEqual([1, 0.8, 1, 1.5, 2000, 3000])
  expect(new Set(colourTable).size).toBeGreaterThan(200)
})
