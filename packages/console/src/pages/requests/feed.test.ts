import type { RecordedRequest } from '@sixtables/gateway/browser'
import { expect, test } from 'vitest'
import { emptyFeed, type Feed, held, withEvent, withNewest, withOlder } from './feed.ts'

const calls = (...ids: readonly number[]): readonly RecordedRequest[] => ids.map((id) => ({ id }) as RecordedRequest)
const idsOf = ({ shown, waiting }: Feed) => [shown.map(({ id }) => id), waiting.map(({ id }) => id)]

test('a call that came by the stream and with the list is there once, the newest first', () => {
  const early = withEvent(emptyFeed, { requests: calls(3, 4) })
  const loaded = withNewest(early, calls(3, 2, 1), 100)
  expect(idsOf(loaded)).toEqual([[4, 3, 2, 1], []])
  expect([loaded.isLoaded, loaded.hasOlder]).toEqual([true, false])
})

test('while it is held, new calls wait, and then go in front', () => {
  const feed = held(withNewest(emptyFeed, calls(2, 1), 100), true)
  const later = withEvent(withEvent(feed, { requests: calls(3) }), { requests: calls(4), skipped: 7 })
  expect(idsOf(later)).toEqual([
    [2, 1],
    [4, 3],
  ])
  expect(later.skipped).toBe(7)
  expect(idsOf(held(later, false))).toEqual([[4, 3, 2, 1], []])
})

test('older calls go behind, until there are no more', () => {
  const feed = withNewest(emptyFeed, calls(9, 8), 2)
  expect(feed.hasOlder).toBe(true)
  const more = withOlder(feed, calls(7), 2)
  expect(idsOf(more)).toEqual([[9, 8, 7], []])
  expect(more.hasOlder).toBe(false)
})
