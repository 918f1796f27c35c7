/** A managed export or import: begun, watched by its progress, and cancelled. */
import { useEffect, useState } from 'preact/hooks'
import { epoch } from '../../api/connection.ts'
import type { EntityScope } from '../../api/entities.ts'
import { wrote } from '../../api/events.ts'
import { cancelOperation, type Operation, readOperation, startTransfer } from '../../api/transfer.ts'
import { CopyButton } from '../copy-button.tsx'
import { ErrorNote } from '../error-note.tsx'
import { SafeText } from '../safe-text.tsx'
import { useAction } from '../use-loaded.ts'

const askEveryMs = 300

export interface ManagedTransferFormProps {
  readonly scope: EntityScope
  readonly direction: 'export' | 'import'
  /** Empty = all. */
  readonly kinds: readonly string[]
}

export function ManagedTransferForm({ scope, direction, kinds }: ManagedTransferFormProps) {
  const [directory, setDirectory] = useState('')
  const [name, setName] = useState('')
  const [error, setError] = useState<Error | undefined>(undefined)
  const [operation, setOperation] = useOperation(direction, setError)
  const isExport = direction === 'export'
  const begin = useAction(async () => {
    setError(undefined)
    setOperation(undefined)
    setOperation(await startTransfer(scope, { direction, directory, name, kinds, namespaces: [] }))
    return undefined
  })
  const isRunning = operation !== undefined && operation.done !== true
  const failure = begin.error ?? error
  const submit = (event: Event): void => {
    event.preventDefault()
    begin.run()
  }
  return (
    <form class="transfer-form" onSubmit={submit}>
      <label>
        {isExport ? 'Folder' : 'Folder of the export,'} on the machine of the server, or gs:// place
        <input
          class="mono"
          required
          value={directory}
          placeholder="/tmp/exports"
          spellcheck={false}
          onInput={(event) => setDirectory(event.currentTarget.value)}
        />
      </label>
      {isExport && (
        <label>
          Name of the export
          <input
            class="mono"
            value={name}
            placeholder="datastore_export_…"
            spellcheck={false}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
      )}
      <div class="toolbar">
        <button type="submit" class="primary" disabled={directory === '' || isRunning || begin.isBusy}>
          {isExport ? 'Export' : 'Import'}
        </button>
        {isRunning && (
          <button type="button" onClick={() => void cancelOperation(operation).catch(setError)}>
            Cancel
          </button>
        )}
      </div>
      <div role="status">{operation !== undefined && <OperationState operation={operation} isExport={isExport} />}</div>
      {failure !== undefined && <ErrorNote error={failure} what={`The ${direction} failed`} />}
    </form>
  )
}

/** An operation that is asked about until it is done, also after the server was away. */
function useOperation(direction: ManagedTransferFormProps['direction'], onError: (error: Error) => void) {
  const [operation, setOperation] = useState<Operation | undefined>(undefined)
  const current = epoch.value
  const isDone = operation?.done === true
  useEffect(() => {
    if (isDone && direction === 'import') wrote()
  }, [isDone])
  useEffect(() => {
    if (operation === undefined || operation.done === true) return
    const abort = new AbortController()
    const timer = setTimeout(() => {
      readOperation(operation, { signal: abort.signal }).then(setOperation, (error: Error) => {
        if (abort.signal.aborted) return
        setOperation(undefined)
        onError(error)
      })
    }, askEveryMs)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [operation, current])
  return [operation, setOperation] as const
}

function OperationState({ operation, isExport }: { readonly operation: Operation; readonly isExport: boolean }) {
  const { progressEntities, common } = operation.metadata
  const done = Number(progressEntities?.workCompleted ?? 0)
  const total = Number(progressEntities?.workEstimated ?? 0)
  const count = `${done.toLocaleString('en')} ${done === 1 ? 'entity' : 'entities'}`
  if (operation.error !== undefined) {
    const what = common?.state === 'CANCELLED' ? 'It was cancelled' : 'It failed'
    return (
      <p>
        {what} after {count}: <SafeText text={operation.error.message} />
      </p>
    )
  }
  if (operation.done !== true) {
    return (
      <p>
        {total > 0 ? <progress aria-label="Entities" value={done} max={total} /> : <progress aria-label="Entities" />}{' '}
        {count} so far
      </p>
    )
  }
  const place = operation.response?.outputUrl
  return (
    <>
      <p>
        {isExport ? 'Exported' : 'Imported'} {count}.
      </p>
      {place !== undefined && (
        <p>
          <code>
            <SafeText text={place} />
          </code>{' '}
          <CopyButton text={place} />
        </p>
      )}
    </>
  )
}
