/**
 * The calls of the list: those that the server has kept, and each new one as it comes.
 *
 *   stream opened ─▶ the newest calls are read ─▶ events go in front, or wait while the list is held ─▶ older ones behind, on demand
 *
 * A call is in the list once, the newest first. While the list is held, what it shows stays the same; new calls are counted.
 */
import type { RecordedRequest, RequestEvent } from '@sixtables/gateway/browser'

export interface Feed {
  readonly shown: readonly RecordedRequest[]
  /** Calls that came while the list was held, newest first. */
  readonly waiting: readonly RecordedRequest[]
  readonly isHeld: boolean
  readonly skipped: number
  readonly hasOlder: boolean
  readonly isLoaded: boolean
}

/** As many as the server keeps. */
const shownMax = 1000

export const emptyFeed: Feed = { shown: [], waiting: [], isHeld: false, skipped: 0, hasOlder: false, isLoaded: false }

/** The newest calls were read: they take the place of all that was shown. @param limit - so many were asked for */
export function withNewest(feed: Feed, requests: readonly RecordedRequest[], limit: number): Feed {
  const shown = merged(feed.shown.concat(feed.waiting), requests)
  return { ...feed, shown, waiting: [], hasOlder: requests.length === limit, isLoaded: true }
}

export function withOlder(feed: Feed, requests: readonly RecordedRequest[], limit: number): Feed {
  return {
    ...feed,
    shown: merged(feed.shown, requests),
    hasOlder: requests.length === limit && feed.shown.length < shownMax,
  }
}

export function withEvent(feed: Feed, { requests, skipped = 0 }: RequestEvent): Feed {
  if (requests.length === 0 && skipped === 0) return feed
  const counted = { ...feed, skipped: feed.skipped + skipped }
  if (feed.isHeld) return { ...counted, waiting: merged(feed.waiting, requests) }
  return { ...counted, shown: merged(feed.shown, requests) }
}

export function held(feed: Feed, isHeld: boolean): Feed {
  if (isHeld === feed.isHeld) return feed
  return isHeld ? { ...feed, isHeld } : { ...feed, isHeld, shown: merged(feed.shown, feed.waiting), waiting: [] }
}

function merged(some: readonly RecordedRequest[], others: readonly RecordedRequest[]): readonly RecordedRequest[] {
  if (others.length === 0) return some
  const newest = some[0]?.id ?? 0
  // Calls of a stream come in their order, a hundred at a time.
  if (others.every(({ id }, i) => id > (others[i - 1]?.id ?? newest))) {
    return [...others.toReversed(), ...some].slice(0, shownMax)
  }
  const byId = new Map([...some, ...others].map((request) => [request.id, request]))
  return [...byId.values()].sort((a, b) => b.id - a.id).slice(0, shownMax)
}
