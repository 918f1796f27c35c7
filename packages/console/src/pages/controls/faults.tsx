/** Injected errors and delays: the list with their hits, a form, and their end. */
import { deleteJson, pathPart } from '../../api/http.ts'
import { ActionNote } from '../../components/action-note.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { SafeText } from '../../components/safe-text.tsx'
import { NeedsOneProcess } from '../../components/shared-store.tsx'
import { useAction, useLoaded } from '../../components/use-loaded.ts'
import { counted } from '../../model/numbers.ts'
import { FaultForm } from './fault-form.tsx'
import { effectInWords, type Fault, placeInWords, timesInWords } from './fault-words.ts'

const path = '/emulator/faults'

export function FaultControl() {
  const { value, error, reload } = useLoaded<{ readonly faults: readonly Fault[] }>(path, { everyMs: 1000 })
  const remove = useAction(async (id: string | undefined) => {
    await deleteJson(id === undefined ? path : `${path}/${pathPart(id)}`)
    reload()
    return id === undefined ? 'All faults are removed.' : 'The fault is removed.'
  })
  const faults = value?.faults ?? []
  return (
    <>
      <h2>Active faults</h2>
      {error !== undefined && <ErrorNote error={error} what="The faults cannot be listed" />}
      {faults.length === 0 ? (
        <p class="muted">None. Calls of the data API are answered as they are.</p>
      ) : (
        <FaultTable faults={faults} isBusy={remove.isBusy} onRemove={(id) => remove.run(id)} />
      )}
      {faults.length > 1 && (
        <p>
          <button type="button" class="danger" disabled={remove.isBusy} onClick={() => remove.run(undefined)}>
            Remove all
          </button>
        </p>
      )}
      <ActionNote action={remove} what="The fault was not removed" />
      <h2>Add a fault</h2>
      <NeedsOneProcess why="no gateway can inject a fault for all. Stop one to see what clients do, or use a store of one process.">
        <FaultForm onAdded={reload} />
      </NeedsOneProcess>
    </>
  )
}

interface FaultTableProps {
  readonly faults: readonly Fault[]
  readonly isBusy: boolean
  readonly onRemove: (id: string) => void
}

function FaultTable({ faults, isBusy, onRemove }: FaultTableProps) {
  return (
    <table class="wide-table">
      <thead>
        <tr>
          <th scope="col">Calls</th>
          <th scope="col">Effect</th>
          <th scope="col">When</th>
          <th scope="col" class="number">
            Matched
          </th>
          <th scope="col" class="number">
            Hits
          </th>
          <th scope="col">Action</th>
        </tr>
      </thead>
      <tbody>
        {faults.map((fault) => (
          <tr key={fault.id}>
            <th scope="row">
              <SafeText text={placeInWords(fault)} />
            </th>
            <td>
              <SafeText text={effectInWords(fault)} />
            </td>
            <td>{timesInWords(fault)}</td>
            <td class="number">{counted(fault.matched)}</td>
            <td class="number">{counted(fault.hits)}</td>
            <td>
              <button
                type="button"
                disabled={isBusy}
                aria-label={`Remove: ${effectInWords(fault)} for ${placeInWords(fault)}`}
                onClick={() => onRemove(fault.id)}
              >
                Remove
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
