/** Streams of the server in a component, from when it is shown until it is gone. */
import { useEffect, useRef } from 'preact/hooks'
import { type EventReader, openEvents } from '../api/events.ts'

/** @param path - absent: no stream. The reader may be another one at each call. */
export function useEvents<T>(path: string | undefined, reader: EventReader<T>): void {
  const latest = useRef(reader)
  latest.current = reader
  useEffect(() => {
    if (path === undefined) return
    return openEvents<T>(path, {
      onEvent: (event) => latest.current.onEvent(event),
      onOpened: () => latest.current.onOpened?.(),
      onRefused: (error) => latest.current.onRefused?.(error),
    })
  }, [path])
}

/**
 * Tells of commits: also of those that were missed while the stream was away.
 *
 * @param query - of `GET /emulator/commits`: whose commits
 * @param restMs - those that come so near to each other are told once
 */
export function useCommits(query: string, restMs: number, onCommits: () => void): void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const latest = useRef(onCommits)
  latest.current = onCommits
  const soon = (): void => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      latest.current()
    }, restMs)
  }
  useEffect(
    () => () => {
      clearTimeout(timer.current)
      timer.current = undefined
    },
    [query],
  )
  useEvents(`/emulator/commits?${query}&list=0`, { onEvent: soon, onOpened: soon })
}
