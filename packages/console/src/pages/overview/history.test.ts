import type { OverviewEvent } from '@sixtables/gateway/browser'
import { expect, test } from 'vitest'
import { linesOf, type Point, pointsMax, rowLinesOf, withEvent } from './history.ts'

const event = (second: number, seconds: number, commits = 0, aborted = 0): OverviewEvent => {
  const counts = { calls: commits, errors: aborted, p50Ms: 1, p99Ms: 2 }
  return {
    at: new Date(second * 1000).toISOString(),
    seconds,
    ...(commits === 0 ? {} : { all: counts }),
    methods: commits === 0 ? {} : { commit: counts },
    codes: aborted === 0 ? {} : { ABORTED: aborted },
    openTransactions: 0,
    waitingRecords: 0,
    databases: [],
    findings: [],
  }
}

const after = (...events: readonly OverviewEvent[]): readonly Point[] =>
  events.reduce(withEvent, [] as readonly Point[])

test('counts become rates, and a second without calls is a zero', () => {
  const { x, operations, latency, errors } = linesOf(after(event(0, 0), event(2, 2, 10, 4), event(3, 1)))
  expect(x).toEqual([2, 3])
  expect(operations).toEqual([{ label: 'commit', values: [5, 0] }])
  expect(errors).toEqual([{ label: 'ABORTED', values: [2, 0] }])
  expect(latency.map(({ values }) => values)).toEqual([
    [1, null],
    [2, null],
  ])
})

test('time without a stream is a gap (history/H1)', () => {
  const { operations } = linesOf(after(event(0, 0), event(1, 1, 3), event(2, 0), event(3, 1, 3), event(60, 1, 5)))
  expect(operations[0]?.values).toEqual([3, null, 3, null, 5])
})

test('the newest points are kept', () => {
  const events = Array.from({ length: pointsMax + 50 }, (_, i) => event(i, i === 0 ? 0 : 1, 1))
  const points = after(...events)
  expect(points).toHaveLength(pointsMax)
  expect(points.at(-1)?.at).toBe(pointsMax + 49)
})

test('rows of all tables are added up for each column of a heat report', () => {
  const row = { start: '', end: '', label: '', bytes: [] }
  const report = {
    atMs: 25_000,
    stepMs: 10_000,
    columns: [10_000, 20_000],
    rows: [
      { ...row, table: 'Entities', reads: [1, 0], writes: [2, 0] },
      { ...row, table: 'EntitiesByKind', reads: [0, 5], writes: [3, 0] },
    ],
    events: [],
  } as const
  expect(rowLinesOf(report)).toEqual({
    x: [10, 20],
    rows: [
      { label: 'reads', values: [1, 5] },
      { label: 'writes', values: [5, 0] },
    ],
  })
})
