/** The feed of one filter, as long as a component shows it. */
import type { RequestEvent, RequestList } from '@sixtables/gateway/browser'
import { useEffect, useRef, useState } from 'preact/hooks'
import { epoch } from '../../api/connection.ts'
import { getJson } from '../../api/http.ts'
import { useEvents } from '../../components/use-server.ts'
import { emptyFeed, type Feed, held, withEvent, withNewest, withOlder } from './feed.ts'

const limit = 100

const listPath = (filter: string): string => `/emulator/requests?${filter}${filter === '' ? '' : '&'}limit=${limit}`
const eventsPath = (filter: string): string => `/emulator/requests/events?${filter}`

export type UsedFeed = ReturnType<typeof useFeed>

/** @param filter - query of the server's calls; an empty one is all calls */
export function useFeed(filter: string) {
  const [feed, setFeed] = useState<Feed>(emptyFeed)
  const [error, setError] = useState<Error | undefined>(undefined)
  const [begun, setBegun] = useState(filter)
  const name = `${epoch.value} ${filter}`
  const latest = useRef(name)
  latest.current = name
  const clear = (): void => setFeed(({ isHeld }) => ({ ...emptyFeed, isHeld }))
  const read = (path: string, add: typeof withNewest): void => {
    const set = (change: () => void) => latest.current === name && change()
    getJson<RequestList>(path).then(
      ({ requests }) => set(() => setFeed((before) => add(before, requests, limit))),
      (reason: Error) => set(() => setError(reason)),
    )
  }
  useEffect(() => {
    clear()
    setError(undefined)
  }, [name])
  useEvents<RequestEvent>(eventsPath(filter), {
    // Its calls count from one again when the server was started anew.
    onOpened: () => {
      setBegun(filter)
      clear()
      read(listPath(filter), withNewest)
    },
    onEvent: (event) => setFeed((before) => withEvent(before, event)),
    onRefused: (reason) => {
      setBegun(filter)
      setError(reason)
    },
  })
  // The server records while there is a stream: that of the filter before ends when the next one has begun, so no call is lost in between.
  useEvents(eventsPath(begun), { onEvent: () => undefined })
  const older = (): void => {
    const last = feed.shown.at(-1)
    if (last === undefined || !feed.hasOlder) return
    setFeed((before) => ({ ...before, hasOlder: false }))
    read(`${listPath(filter)}&before=${last.id}`, withOlder)
  }
  return { feed, error, older, hold: (isHeld: boolean) => setFeed((before) => held(before, isHeld)) }
}
