/** A managed export or import: begun, watched by its progress, and cancelled; and choices of the dialogs of import and export. */
import type { FixtureFormat } from '@sixtables/gateway/browser'
import { useEffect, useId, useState } from 'preact/hooks'
import { wrote } from '../../api/events.ts'
import { postJson } from '../../api/http.ts'
import { type ManagedTransfer, type Operation, operationPath, startTransfer } from '../../api/transfer.ts'
import { entitiesInWords } from '../../model/numbers.ts'
import type { EntityScope } from '../../model/scope.ts'
import { Button, Form, Select, TextField } from '../controls.tsx'
import { CopyButton } from '../copy-button.tsx'
import { ErrorNote, safeText } from '../parts.tsx'
import { useAction, useLoaded } from '../use-server.ts'

const askEveryMs = 300

type ManagedTransferFormProps = Pick<ManagedTransfer, 'direction' | 'kinds'> & { readonly scope: EntityScope }

export function ManagedTransferForm({ scope, direction, kinds }: ManagedTransferFormProps) {
  const [directory, setDirectory] = useState('')
  const [name, setName] = useState('')
  const transfer = { direction, directory, name, kinds }
  const { operation, begin, cancel, error } = useOperation(() => startTransfer(scope, transfer), direction)
  const isExport = direction === 'export'
  const isRunning = operation !== undefined && operation.done !== true
  return (
    <Form class="stack gap-3" onSubmit={begin.run}>
      <TextField
        label={`${isExport ? 'Folder' : 'Folder of the export,'} on the machine of the server, or gs:// place`}
        value={directory}
        placeholder="/tmp/exports"
        required
        onChange={setDirectory}
      />
      {isExport && (
        <TextField label="Name of the export" value={name} placeholder="datastore_export_…" onChange={setName} />
      )}
      <div class="toolbar">
        <Start
          label={isExport ? 'Export' : 'Import'}
          isBusy={isRunning}
          disabled={directory === '' || begin.isBusy}
          onCancel={cancel}
        />
      </div>
      <div role="status">{operation !== undefined && <OperationState operation={operation} isExport={isExport} />}</div>
      <ErrorNote error={error} what={`The ${direction} failed`} />
    </Form>
  )
}

/** An operation that is asked about until it is done, also after the server was away. */
function useOperation(start: () => Promise<Operation>, direction: ManagedTransferFormProps['direction']) {
  const [begun, setBegun] = useState<Operation | undefined>(undefined)
  const [isOver, setOver] = useState(false)
  const everyMs = isOver ? undefined : askEveryMs
  const { value: latest = begun, error } = useLoaded<Operation>(begun && operationPath(begun), { everyMs })
  const begin = useAction(async () => {
    setBegun(undefined)
    setBegun(await start())
  })
  const cancel = useAction(async (operation: Operation) => {
    await postJson(`${operationPath(operation)}:cancel`)
  })
  const isDone = latest?.done === true
  useEffect(() => {
    setOver(isDone)
    if (isDone && direction === 'import') wrote()
  }, [isDone])
  return {
    operation: error === undefined ? latest : undefined,
    begin,
    cancel: () => begun !== undefined && cancel.run(begun),
    error: begin.error ?? cancel.error ?? error,
  }
}

function OperationState({ operation, isExport }: { readonly operation: Operation; readonly isExport: boolean }) {
  const { progressEntities, common } = operation.metadata
  const done = Number(progressEntities?.workCompleted ?? 0)
  const total = Number(progressEntities?.workEstimated ?? 0)
  const count = entitiesInWords(done)
  if (operation.error !== undefined) {
    const what = common?.state === 'CANCELLED' ? 'It was cancelled' : 'It failed'
    return (
      <p>
        {what} after {count}: {safeText(operation.error.message)}
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
          <code>{safeText(place)}</code> <CopyButton text={place} />
        </p>
      )}
    </>
  )
}

interface ChoiceProps<T extends string> {
  readonly legend: string
  readonly value: T
  readonly options: Readonly<Record<T, string>>
  readonly onChange: (value: T) => void
}

export function Choice<T extends string>({ legend, value, options, onChange }: ChoiceProps<T>) {
  const name = useId()
  return (
    <fieldset class="wrap my-2 no-box">
      <legend class="muted">{legend}</legend>
      {(Object.entries(options) as [T, string][]).map(([option, words]) => (
        <label key={option}>
          <input type="radio" name={name} checked={option === value} onChange={() => onChange(option)} /> {words}
        </label>
      ))}
    </fieldset>
  )
}

export const formats: readonly FixtureFormat[] = ['yaml', 'json', 'csv']

export function FormatChoice(props: Readonly<{ value: FixtureFormat; onChange: (format: FixtureFormat) => void }>) {
  return <Select label="Format" options={formats.map((one) => [one, one.toUpperCase()] as const)} {...props} />
}

type StartProps = Readonly<{ label: string; isBusy: boolean; disabled?: boolean; onCancel: () => void }>

export function Start({ label, isBusy, disabled = false, onCancel }: StartProps) {
  return (
    <>
      <Button label={label} look="primary" disabled={disabled || isBusy} />
      {isBusy && <Button label="Cancel" onClick={onCancel} />}
    </>
  )
}
