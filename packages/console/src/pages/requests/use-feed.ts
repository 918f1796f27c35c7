/** The feed of one filter, as long as a component shows it. */

import type { RequestEvent, RequestList } from '@sixtables/gateway/browser'
import { useEffect, useRef, useState } from 'preact/hooks'
import { epoch } from '../../api/connection.ts'
import { openEvents } from '../../api/events.ts'
import { getJson } from '../../api/http.ts'
import { emptyFeed, type Feed, held, withEvent, withNewest, withOlder } from './feed.ts'

/** A request asks for at most so many calls. */
const limit = 100

const listPath = (filter: string): string => `/emulator/requests?${filter}${filter === '' ? '' : '&'}limit=${limit}`

export type UsedFeed = ReturnType<typeof useFeed>

/**
 * The server records while there is a stream: that of the filter before ends when the next one has begun, so no call is lost in between.
 *
 * @param filter - query of the server's calls; an empty one is all calls
 */
export function useFeed(filter: string) {
  const [feed, setFeed] = useState<Feed>(emptyFeed)
  const [error, setError] = useState<Error | undefined>(undefined)
  const stopBefore = useRef(() => {})
  /** Ends the calls for the filter at hand. */
  const ended = useRef<AbortSignal>(undefined)
  const read = (path: string, signal: AbortSignal | undefined, add: typeof withNewest): void => {
    getJson<RequestList>(path, { signal }).then(
      ({ requests }) => setFeed((before) => add(before, requests, limit)),
      (reason: Error) => {
        if (signal?.aborted !== true) setError(reason)
      },
    )
  }
  useEffect(() => () => stopBefore.current(), [])
  useEffect(() => {
    setFeed(({ isHeld }) => ({ ...emptyFeed, isHeld }))
    setError(undefined)
    const gone = new AbortController()
    ended.current = gone.signal
    const stopOthers = stopBefore.current
    const stop = openEvents<RequestEvent>(`/emulator/requests/events?${filter}`, {
      // Its calls count from one again when the server was started anew.
      onOpened: () => {
        stopOthers()
        if (gone.signal.aborted) return
        setFeed(({ isHeld }) => ({ ...emptyFeed, isHeld }))
        read(listPath(filter), gone.signal, withNewest)
      },
      onEvent: (event) => {
        if (!gone.signal.aborted) setFeed((before) => withEvent(before, event))
      },
      onRefused: (reason) => {
        stopOthers()
        if (!gone.signal.aborted) setError(reason)
      },
    })
    stopBefore.current = () => {
      stopOthers()
      stop()
    }
    return () => gone.abort()
  }, [filter, epoch.value])
  /** Reads calls older than those shown. */
  const older = (): void => {
    const last = feed.shown.at(-1)
    if (last === undefined || !feed.hasOlder) return
    setFeed((before) => ({ ...before, hasOlder: false }))
    read(`${listPath(filter)}&before=${last.id}`, ended.current, withOlder)
  }
  return { feed, error, older, hold: (isHeld: boolean) => setFeed((before) => held(before, isHeld)) }
}
