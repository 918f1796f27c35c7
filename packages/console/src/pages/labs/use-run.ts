/** A run as it goes on: its events until it has ended. */
import { useEffect, useState } from 'preact/hooks'
import { openEvents } from '../../api/events.ts'
import { pathPart } from '../../api/http.ts'
import type { FinishedRun } from './lab-types.ts'

export interface WatchedRun<T> {
  readonly run: FinishedRun<T> | undefined
  /** The server does not know the run, for example after a restart. */
  readonly error: Error | undefined
}

export function useRun<T>(id: string | undefined): WatchedRun<T> {
  const [watched, setWatched] = useState<WatchedRun<T>>({ run: undefined, error: undefined })
  useEffect(() => {
    setWatched({ run: undefined, error: undefined })
    if (id === undefined) return
    let isOver = false
    const close = openEvents<FinishedRun<T>>(`/emulator/labs/runs/${pathPart(id)}/events`, {
      onEvent: (run) => {
        setWatched({ run, error: undefined })
        if (run.state === 'running') return
        // The server ends the stream here; it is not to be opened again.
        isOver = true
        close()
      },
      onRefused: (error) => setWatched({ run: undefined, error }),
    })
    return () => {
      if (!isOver) close()
    }
  }, [id])
  return watched
}
