/** Injected errors and delays: the list with their hits, a form, and their end. */

import type { FaultReport } from '@sixtables/gateway/browser'
import { deleteJson, pathPart, postJson } from '../../api/http.ts'
import { Button } from '../../components/controls.tsx'
import { ActionNote, ErrorNote, Panel, safeText } from '../../components/parts.tsx'
import { NeedsOneProcess } from '../../components/shared-store.tsx'
import { Table } from '../../components/table.tsx'
import { useAction, useLoaded } from '../../components/use-server.ts'
import { counted } from '../../model/numbers.ts'
import { FaultForm } from './fault-form.tsx'
import { effectInWords, placeInWords, timesInWords } from './fault-words.ts'

const path = '/emulator/faults'

/** What a client is tried with most often. */
const presets = {
  'ABORT the next commit': { method: 'commit', code: 'ABORTED', times: 1 },
  'The next call is UNAVAILABLE': { code: 'UNAVAILABLE', times: 1 },
  'Every tenth call fails': { code: 'UNAVAILABLE', share: 0.1 },
  '500 ms on everything': { latencyMs: 500 },
  'Writes wait before apply': { holdApply: true },
}

export function FaultControl() {
  const { value, error, reload } = useLoaded<{ readonly faults: readonly FaultReport[] }>(path, { everyMs: 1000 })
  const remove = useAction(async (id: string | undefined) => {
    await deleteJson(id === undefined ? path : `${path}/${pathPart(id)}`)
    reload()
    return id === undefined ? 'All faults are removed.' : 'The fault is removed.'
  })
  const faults = value?.faults ?? []
  const removeButton = (fault: FaultReport) => (
    <Button
      label="Remove"
      disabled={remove.isBusy}
      aria-label={`Remove: ${effectInWords(fault)} for ${placeInWords(fault)}`}
      onClick={() => remove.run(fault.id)}
    />
  )
  return (
    <>
      <Panel title="Add a fault">
        <NeedsOneProcess why="no gateway can inject a fault for all. Stop one to see what clients do, or use a store of one process.">
          <Presets onAdded={reload} />
          <details>
            <summary>Another fault</summary>
            <FaultForm onAdded={reload} />
          </details>
        </NeedsOneProcess>
      </Panel>
      <Panel
        title="Active faults"
        more={
          faults.length > 1 && (
            <Button label="Remove all" look="danger" disabled={remove.isBusy} onClick={() => remove.run(undefined)} />
          )
        }
      >
        {error !== undefined && <ErrorNote error={error} what="The faults cannot be listed" />}
        {faults.length === 0 ? (
          <p class="muted">None. Calls of the data API are answered as they are.</p>
        ) : (
          <Table
            class="wide-table"
            rows={faults}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Calls', cell: (fault) => safeText(placeInWords(fault)) },
              { title: 'Effect', cell: (fault) => safeText(effectInWords(fault)) },
              { title: 'When', cell: timesInWords },
              { title: 'Matched', isNumber: true, cell: ({ matched }) => counted(matched) },
              { title: 'Hits', isNumber: true, cell: ({ hits }) => counted(hits) },
              { title: 'Action', cell: removeButton },
            ]}
          />
        )}
        <ActionNote action={remove} what="The fault was not removed" />
      </Panel>
    </>
  )
}

function Presets({ onAdded }: { readonly onAdded: () => void }) {
  const add = useAction(async (fault: object) => {
    const added = await postJson<FaultReport>(path, fault)
    onAdded()
    return `Added: ${effectInWords(added)}, ${placeInWords(added)}, ${timesInWords(added)}.`
  })
  return (
    <>
      <div class="toolbar">
        {Object.entries(presets).map(([words, fault]) => (
          <Button key={words} label={words} disabled={add.isBusy} onClick={() => add.run(fault)} />
        ))}
      </div>
      <ActionNote action={add} what="The fault was not added" />
    </>
  )
}
