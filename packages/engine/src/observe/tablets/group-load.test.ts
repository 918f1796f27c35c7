import { expect, test } from 'vitest'
import { GroupLoad } from './group-load.ts'

const nowMs = 1_700_000_000_000

test('groups with conflicts and waits come first, then the busiest; a single commit is no load', () => {
  const load = new GroupLoad()
  load.sampled('once', nowMs, 64)
  for (let i = 0; i < 5; i++) load.sampled('busy', nowMs, 1)
  for (let i = 0; i < 2; i++) load.sampled('quiet', nowMs, 1)
  load.conflicted('contended', nowMs)
  load.waited('contended', nowMs)
  const groups = load.busiest(nowMs + 500, 10_000, 10)
  expect(groups.map(({ group }) => group)).toEqual(['contended', 'busy', 'quiet'])
  expect(groups[1]?.commitsPerSecond).toBeLessThan(0.6)
  expect(load.busiest(nowMs + 20_000, 10_000, 10)).toEqual([])
})

test('among very many groups the busy one is kept', () => {
  const load = new GroupLoad()
  for (let i = 0; i < 5_000; i++) {
    load.sampled(`group ${i}`, nowMs + i, 1)
    if (i % 3 === 0) load.sampled('busy', nowMs + i, 1)
  }
  expect(load.busiest(nowMs + 5_000, 10_000, 1)).toMatchObject([
    { group: 'busy', conflictsPerSecond: 0, waitsPerSecond: 0 },
  ])
})

test('commits of a group with conflicts are counted one by one, and samples of them not again', () => {
  const load = new GroupLoad()
  load.committed('contended', nowMs)
  load.conflicted('contended', nowMs)
  for (let i = 0; i < 60; i++) {
    load.committed('contended', nowMs)
    load.committed('other', nowMs)
    if (i % 20 === 0) load.sampled('contended', nowMs, 64)
  }
  const [contended, ...others] = load.busiest(nowMs + 1_000, 60_000, 10)
  expect(contended).toMatchObject({ group: 'contended', commitsPerSecond: 60 * (contended?.conflictsPerSecond ?? 0) })
  expect(others).toEqual([])
})
