/** A run as it goes on: its events until it has ended, its arms, each done, at work or waiting, and the button that cancels it. */
import type { LabRunReport } from '@sixtables/gateway/browser'
import { useEffect, useState } from 'preact/hooks'
import { deleteJson } from '../../api/http.ts'
import { Button } from '../../components/controls.tsx'
import { ErrorNote } from '../../components/parts.tsx'
import { useAction, useEvents } from '../../components/use-server.ts'
import type { Run } from './lab-types.ts'

export function RunProgress({ run }: Readonly<{ run: LabRunReport }>) {
  const { id, arms = [], state, progress, error } = run
  const cancel = useAction(async () => {
    await deleteJson(`/emulator/labs/runs/${encodeURIComponent(id)}`)
  })
  if (state === 'failed') return <ErrorNote error={new Error(error ?? '')} what="The run broke off" />
  if (state === 'cancelled') return <p role="status">The run was cancelled. Nothing of it is kept.</p>
  if (state === 'finished') return null
  const at = progress === undefined ? 0 : arms.indexOf(progress.arm)
  return (
    <section class="panel" aria-label="Progress" style={{ maxWidth: '640px' }}>
      <ul class="mb-3">
        {arms.map((arm, i) => {
          const share = i < at ? 1 : i > at ? 0 : (progress?.share ?? 0)
          const words = share >= 1 ? 'done' : share === 0 ? 'waits' : `${Math.floor(share * 100)} %`
          return (
            <li
              key={arm}
              class="stack"
              style={{ alignItems: 'center', gridTemplateColumns: 'minmax(0, 2fr) minmax(0, 2fr) 6ch' }}
            >
              <span class="breaks">{arm}</span>
              <progress value={share} max={1} aria-label={`${arm}: ${words}`} />
              <span class="muted">{words}</span>
            </li>
          )
        })}
      </ul>
      <Button label="Cancel" disabled={cancel.isBusy} onClick={() => cancel.run()} />
      <ErrorNote error={cancel.error} />
    </section>
  )
}

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
  useEvents<Run<T>>(id === undefined || isOver ? undefined : `/emulator/labs/runs/${encodeURIComponent(id)}/events`, {
    onEvent: (run) => setWatched({ run }),
    onRefused: (error) => setWatched({ error }),
  })
  return watched
}
