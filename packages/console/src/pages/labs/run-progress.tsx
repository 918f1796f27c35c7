/** A run as it goes on: its events until it has ended, its arms, each done, at work or waiting, and the button that cancels it. */
import type { DrawableResult } from '@sixtables/bench'
import type { LabRunReport, WholeRunReport } from '@sixtables/gateway/browser'
import { useEffect, useState } from 'preact/hooks'
import { deleteJson, getJson, postJson } from '../../api/http.ts'
import { Button } from '../../components/controls.tsx'
import { ErrorNote } from '../../components/parts.tsx'
import { useAction, useEvents } from '../../components/use-server.ts'
import { addressOf } from '../../model/route.ts'

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

/** @param other - keeps this run from beginning; the page of its lab has the button that cancels it */
export function NotRun({ error, other }: Pick<WatchedRun, 'error' | 'other'>) {
  if (other === undefined) return <ErrorNote error={error} what="The lab was not run" />
  return (
    <p class="panel warn" role="alert">
      The lab was not run, since one runs at a time.{' '}
      <a href={addressOf('labs', [other.lab], { run: other.id })}>Watch or cancel the run of {other.lab}</a>.
    </p>
  )
}

export type RunList = Readonly<{ runs: readonly LabRunReport[] }>

interface Run extends WholeRunReport {
  readonly result?: DrawableResult
}

interface WatchedRun {
  readonly run?: Run
  /** The server does not know the run, for example after a restart. */
  readonly error?: Error | undefined
  readonly other?: LabRunReport | undefined
}

export function useRun(lab: string, id: string | undefined, onBegun: (id: string) => void) {
  const [{ run, error, other }, setWatched] = useState<WatchedRun>({})
  useEffect(() => setWatched({}), [id])
  // The server ends the stream with the run: then it is not to be opened again.
  const isOver = run?.id === id && run?.state !== 'running'
  useEvents<Run>(id === undefined || isOver ? undefined : `/emulator/labs/runs/${encodeURIComponent(id)}/events`, {
    onEvent: (now) => setWatched({ run: now }),
    onRefused: (refusal) => setWatched({ error: refusal }),
  })
  const start = useAction(async (choice: object) => {
    const { runs } = await getJson<RunList>('/emulator/labs/runs')
    const running = runs.find(({ state }) => state === 'running')
    setWatched((before) => ({ ...before, other: running }))
    if (running !== undefined) return
    onBegun((await postJson<LabRunReport>(`/emulator/labs/${encodeURIComponent(lab)}/runs`, choice)).id)
  })
  const isRunning = run?.state === 'running'
  return { run, error, other, start, isRunning, isBusy: isRunning || start.isBusy }
}
