import { expect, test } from 'vitest'
import { GroupLoad } from './group-load.ts'

const nowMs = 1_700_000_000_000

test('groups with conflicts and waits come first, then the busiest; a single commit is no load', () => {
  const load = new GroupLoad()
  load.committed('once', nowMs, 64)
  for (let i = 0; i < 5; i++) load.committed('busy', nowMs, 1)
  for (let i = 0; i < 2; i++) load.committed('quiet', nowMs, 1)
  load.conflicted('contended', nowMs)
  load.waited('contended', nowMs)
  const groups = load.busiest(nowMs + 500, 10_000, 10)
  expect(groups.map(({ group }) => group)).toEqual(['contended', 'busy', 'quiet'])
  expect(groups[1]?.commits).toBeLessThan(0.6)
  expect(load.busiest(nowMs + 20_000, 10_000, 10)).toEqual([])
})

test('among very many groups the busy one is kept', () => {
  const load = new GroupLoad()
  for (let i = 0; i < 5_000; i++) {
    load.committed(`group ${i}`, nowMs + i, 1)
    if (i % 3 === 0) load.committed('busy', nowMs + i, 1)
  }
  expect(load.busiest(nowMs + 5_000, 10_000, 1)).toMatchObject([{ group: 'busy', conflicts: 0, waits: 0 }])
})
