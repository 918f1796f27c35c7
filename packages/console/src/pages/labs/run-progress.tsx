/** The arms of a run, each done, at work or waiting; and the button that cancels it. */

import type { LabRunReport } from '@sixtables/gateway/browser'
import { deleteJson, pathPart } from '../../api/http.ts'
import { Button } from '../../components/controls.tsx'
import { ErrorNote } from '../../components/notes.tsx'
import { useAction } from '../../components/use-server.ts'

export interface RunProgressProps {
  readonly run: LabRunReport
}

export function RunProgress({ run }: RunProgressProps) {
  const { id, arms = [], state, progress, error } = run
  const cancel = useAction(async () => {
    await deleteJson(`/emulator/labs/runs/${pathPart(id)}`)
    return undefined
  })
  if (state === 'failed') return <ErrorNote error={new Error(error ?? '')} what="The run broke off" />
  if (state === 'cancelled') return <p role="status">The run was cancelled. Nothing of it is kept.</p>
  if (state === 'finished') return null
  const at = progress === undefined ? 0 : arms.indexOf(progress.arm)
  return (
    <section class="panel run-progress" aria-label="Progress">
      <ul>
        {arms.map((arm, i) => (
          <ArmProgress key={arm} name={arm} share={i < at ? 1 : i > at ? 0 : (progress?.share ?? 0)} />
        ))}
      </ul>
      <Button label="Cancel" disabled={cancel.isBusy} onClick={() => cancel.run()} />
      {cancel.error !== undefined && <ErrorNote error={cancel.error} />}
    </section>
  )
}

function ArmProgress({ name, share }: { readonly name: string; readonly share: number }) {
  const words = share >= 1 ? 'done' : share === 0 ? 'waits' : `${Math.floor(share * 100)} %`
  return (
    <li>
      <span class="run-progress-arm">{name}</span>
      <progress value={share} max={1} aria-label={`${name}: ${words}`} />
      <span class="muted run-progress-words">{words}</span>
    </li>
  )
}
