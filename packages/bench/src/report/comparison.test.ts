import { describe, expect, it } from 'vitest'
import { type ArmResult, Recorder } from '../measure/recorder.ts'
import { apart, compared, heatShare, scaleMarks } from './comparison.ts'

function arm(name: string, draw: (record: Recorder) => void): ArmResult {
  const record = new Recorder()
  draw(record)
  return record.result(name, '')
}

function chart(
  record: Recorder,
  values: readonly number[],
  lines: Record<string, readonly (number | null)[]>,
  unit = 'ms',
): void {
  record.chart('latency', unit, { name: 'writers', values }, lines)
}

const heatmap = (columns: readonly number[], ...rows: readonly (readonly number[])[]) => ({
  title: 'Entities',
  unit: 'operations/s',
  time: 'seconds' as const,
  columns,
  rows: rows.map((values, i) => ({ label: `row ${i}`, values })),
  events: [],
})

describe('charts of several arms', () => {
  it('become one when title, unit and x axis are the same', () => {
    const arms = [
      arm('one', (record) => chart(record, [1, 10], { p50: [5, null], p99: [6, 7] })),
      arm('many', (record) => chart(record, [1, 5, 10], { p50: [1, 2, 3] })),
      arm('other', (record) => chart(record, [1], { p50: [1] }, 's')),
    ]
    const { charts } = compared(arms)
    expect(charts.map(({ unit }) => unit)).toEqual(['ms', 's'])
    const [both] = charts
    expect(both?.x.values).toEqual([1, 5, 10])
    expect(both?.lines.map(({ label, armAt, nameAt, values }) => [label, armAt, nameAt, values])).toEqual([
      // A missing measurement is a gap in the line; an x that only another arm has is none.
      ['one, p50', 0, 0, [5, apart, null]],
      ['one, p99', 0, 1, [6, apart, 7]],
      ['many, p50', 1, 0, [1, 2, 3]],
    ])
  })

  it('name their arms alone where there is one line each', () => {
    const arms = ['offset', 'cursor'].map((name) => arm(name, (record) => chart(record, [1, 2], { [name]: [1, 2] })))
    expect(compared(arms).charts[0]?.lines.map(({ label }) => label)).toEqual(['offset', 'cursor'])
  })
})

describe('heatmaps of several arms', () => {
  it('share their time and their scale', () => {
    const arms = [
      arm('short', (record) => record.heatmap(heatmap([0, 10], [1, 2]))),
      arm('long', (record) => record.heatmap(heatmap([10, 40], [8, 3], [0, 0]))),
    ]
    const { heatmaps } = compared(arms)
    expect(heatmaps).toHaveLength(1)
    expect(heatmaps[0]).toMatchObject({ most: 8, from: 0, to: 70 })
    expect(heatmaps[0]?.maps.map(({ arm: name, armAt }) => [name, armAt])).toEqual([
      ['short', 0],
      ['long', 1],
    ])
  })
})

describe('the scale of heat', () => {
  it('runs from 0 to 1 and never falls', () => {
    const shares = [0, 1, 5, 50, 100].map((value) => heatShare(value, 100))
    expect([shares[0], shares.at(-1)]).toEqual([0, 1])
    expect(shares.toSorted((a, b) => a - b)).toEqual(shares)
    expect(heatShare(0, 0)).toBe(0)
  })

  it('has marks where a cell of that value has its colour', () => {
    for (const { share, value } of scaleMarks(4200)) expect(heatShare(value, 4200)).toBeCloseTo(share)
    expect(scaleMarks(4200).map(({ share }) => share)).toEqual([
      0,
      expect.closeTo(0.316, 3),
      expect.closeTo(0.632, 3),
      1,
    ])
  })
})
