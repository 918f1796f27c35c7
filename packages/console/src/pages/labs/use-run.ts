/** A run as it goes on: its events until it has ended. */

import { useEffect, useState } from 'preact/hooks'
import { pathPart } from '../../api/http.ts'
import { useEvents } from '../../components/use-server.ts'
import type { Run } from './lab-types.ts'

interface WatchedRun<T> {
  readonly run?: Run<T>
  /** The server does not know the run, for example after a restart. */
  readonly error?: Error
}

export function useRun<T>(id: string | undefined): WatchedRun<T> {
  const [watched, setWatched] = useState<WatchedRun<T>>({})
  useEffect(() => setWatched({}), [id])
  // The server ends the stream with the run: then it is not to be opened again.
  const isOver = watched.run?.id === id && watched.run?.state !== 'running'
  useEvents<Run<T>>(id === undefined || isOver ? undefined : `/emulator/labs/runs/${pathPart(id)}/events`, {
    onEvent: (run) => setWatched({ run }),
    onRefused: (error) => setWatched({ error }),
  })
  return watched
}
