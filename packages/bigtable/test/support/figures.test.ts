import { expect, test } from 'vitest'
import { Figures } from './figures.ts'

test('a strong read after a fault is late by what bare calls take, and is told with its fault', () => {
  const figures = new Figures()
  const read = (ms: number) => [{ what: 'the sum of all accounts', ms }]
  figures.note({ kind: 'stops', gateway: 0, underWay: 5, before: read(2_000), after: read(1_100), slowestMs: 20 })
  expect(figures.late).toEqual([])
  figures.note({ kind: 'kills', gateway: 2, underWay: 4, before: read(20), after: read(1_101), slowestMs: 20 })
  expect(figures.late).toEqual([
    expect.stringMatching(
      /^the sum of all accounts took 1101 ms after the kill of gateway 2 \(fault 2\), 20 ms before it and at most 1100 ms allowed; 4 commits were under way/,
    ),
  ])
  expect(figures.progress).toMatch(
    /^2 faults \(1 kills, 1 stops; 0 while clock rows changed\), 9 commits under way .* after: 2, p50 .* 1 late, at last the sum/,
  )
})
