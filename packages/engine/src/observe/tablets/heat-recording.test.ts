import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type HeatCell, type HeatColumn, HeatHistory } from './heat-history.ts'
import { heatMeasures } from './heat-range.ts'
import { cellsMax, HeatRecording } from './heat-recording.ts'

/** 2026: times of a real clock, far from 0. */
const startMs = 1_767_225_600_000
const key = (n: number): string => `E${String(n).padStart(8, '0')}`

class World {
  readonly heat = new HeatHistory(64)
  readonly recording = new HeatRecording(this.heat)
  nowMs = startMs

  constructor() {
    this.recording.watch(this.nowMs)
  }

  write(rowKey: string, times = 1): void {
    this.recording.advance(this.nowMs)
    this.heat.add('Entities', rowKey, this.nowMs, 0, times, 10)
  }

  pass(ms: number): void {
    this.nowMs += ms
    this.recording.advance(this.nowMs)
  }

  get columns(): readonly (Omit<HeatColumn, 'cells'> & { readonly cells: readonly HeatCell[] })[] {
    return this.recording.after(0).columns.map((column) => ({ ...column, cells: [...column.cells] }))
  }
}

const sumOf = (cells: readonly HeatCell[], measure: (typeof heatMeasures)[number]): number =>
  cells.reduce((sum, { values }) => sum + (values[heatMeasures.indexOf(measure)] ?? 0), 0)

function covers({ start, end }: HeatCell, rowKey: string): boolean {
  return start <= rowKey && (end === undefined || rowKey < end)
}

describe('the recording of heat', () => {
  it('keeps every operation, in disjoint ranges that cover its row (heat-recording/RD1)', () => {
    const operation = fc.record({ row: fc.nat(999), ms: fc.nat(700), times: fc.integer({ min: 1, max: 9 }) })
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 400 }), (operations) => {
        const world = new World()
        const done: { second: number; row: string; times: number }[] = []
        for (const { row, ms, times } of operations) {
          world.pass(ms)
          world.write(key(row), times)
          done.push({ second: Math.floor(world.nowMs / 1000), row: key(row), times })
        }
        world.pass(1000)
        for (const { atMs, cells } of world.columns) {
          const here = done.filter(({ second }) => second === atMs / 1000)
          expect(sumOf(cells, 'writes')).toBe(here.reduce((sum, { times }) => sum + times, 0))
          for (const { row } of here) expect(cells.filter((cell) => covers(cell, row))).toHaveLength(1)
        }
        expect(world.columns).toHaveLength(new Set(done.map(({ second }) => second)).size)
      }),
      { numRuns: 50 },
    )
  })

  it('shows keys that rise, or fall, as a narrow range that moves', () => {
    for (const place of [(n: number) => n, (n: number) => 50_000 - n]) {
      const world = new World()
      // Keys of other kinds above and below do not hide the front.
      for (const other of ['A', 'Z']) world.write(other)
      world.pass(1000)
      let n = 0
      for (let second = 0; second < 300; second++) {
        for (let i = 0; i < 20; i++) world.write(key(place(n++)))
        world.pass(1000)
      }
      expect(world.columns).toHaveLength(301)
      // One bound a second: each starts at the end of the one before.
      const bounds = new Set(world.columns.flatMap(({ cells }) => cells.flatMap(({ start, end }) => [start, end])))
      expect(bounds.size).toBeLessThan(400)
      for (const [second, { cells }] of world.columns.slice(1).entries()) {
        if (second === 0) continue
        // Keys of the seconds before and after lie outside, but for the first second, which knows no front yet.
        for (const other of [second - 2, second + 2].filter((one) => one > 0 && one < 300)) {
          const middle = key(place(other * 20 + 10))
          expect(
            cells.some((cell) => covers(cell, middle)),
            `second ${second}, keys of ${other}`,
          ).toBe(false)
        }
      }
    }
  })

  it('leaves waits, refusals and tombstones where they were', () => {
    const world = new World()
    world.write(key(1))
    world.heat.addTrouble('Entities', key(1), world.nowMs, 250, 3, 40)
    world.pass(1000)
    world.write(key(2))
    world.pass(1000)
    expect(world.columns.map(({ cells }) => cells.map(({ values }) => values))).toEqual([
      [[0, 1, 10, 250, 3, 40]],
      [[0, 1, 10, 0, 0, 0]],
    ])
  })

  it('drops the oldest seconds when there are too many cells', () => {
    const world = new World()
    for (let second = 0; second < 2000; second++) {
      for (let i = 0; i < 512; i++) world.write(key((i * 7919) % 99_999))
      world.pass(1000)
    }
    const { columns, last } = world.recording.after(0)
    const cells = columns.reduce((sum, column) => sum + column.cells.length, 0)
    expect(cells).toBeLessThanOrEqual(cellsMax)
    expect(cells).toBeGreaterThan(cellsMax * 0.9)
    expect(last).toBe(2000)
    expect(columns.at(-1)?.atMs).toBe(startMs + 1_999_000)
  })

  it('ends five minutes after the last watcher has gone, and ranges are as few as before', () => {
    const world = new World()
    for (let second = 0; second < 200; second++) {
      for (let i = 0; i < 50; i++) world.write(key(second * 50 + i))
      world.pass(1000)
    }
    expect(world.heat.cells('Entities', 0, 0, 1, 1000).length).toBeGreaterThan(64)
    world.recording.unwatch(world.nowMs)
    world.pass(299_000)
    expect(world.columns).not.toHaveLength(0)
    world.pass(2_000)
    expect(world.columns).toHaveLength(0)
    world.heat.adapt(world.nowMs)
    expect(world.heat.cells('Entities', 0, 0, 1, 1000)).toHaveLength(64)
  })
})
