import { seededRandom } from '@sixtables/engine/testing'
import { expect, it } from 'vitest'
import { changesOf, entryOf, followersAfter, followersOf } from './changes.ts'
import { compacted } from './compaction-ways.ts'

it('entries of all changes, in any order, give the followers that the scripts end with', () => {
  const entries: string[] = []
  for (let writer = 0; writer < 3; writer++) {
    const script = changesOf(writer)
    for (let i = 0; i < 11; i++) entries.push(entryOf(script.next().value))
  }
  const random = seededRandom(7)
  const shuffled = entries.map((entry) => ({ entry, at: random.next() })).sort((a, b) => a.at - b.at)
  expect(followersOf(shuffled.map(({ entry }) => entry))).toEqual(followersAfter([11, 11, 11]))
})

it('compacting keeps the followers and one entry for each', () => {
  const entries = ['+a#1', '+b#1', '-a#2', '+a#3', '-b#2', '+c#1']
  expect(compacted(entries)).toEqual(['+a#3', '+c#1'])
  expect(followersOf(compacted(entries))).toEqual(followersOf(entries))
})

it('an entry whose counterpart is in the other list stays', () => {
  expect(compacted(['-a#2'])).toEqual(['-a#2'])
})
