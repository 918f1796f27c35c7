/**
 * Entities to elsewhere: a fixture as a file of the browser, or a managed export on the server's machine.
 *
 *   <ExportDialog scope={{ project, database, namespace }} kind="ToDo" onClose={…} />
 */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { EntityScope } from '../../api/entities.ts'
import { downloadFixture, type FixtureFormat } from '../../api/transfer.ts'
import { Dialog } from '../dialog.tsx'
import { ErrorNote } from '../error-note.tsx'
import { SafeText } from '../safe-text.tsx'
import { Choice } from './choice.tsx'
import { ManagedTransferForm } from './managed-transfer.tsx'

export interface ExportDialogProps {
  readonly scope: EntityScope
  /** The kind that is offered alone. */
  readonly kind?: string | undefined
  readonly onClose: () => void
}

export function ExportDialog({ scope, kind, onClose }: ExportDialogProps) {
  const [target, setTarget] = useState<'fixture' | 'managed'>('fixture')
  const [which, setWhich] = useState<'kind' | 'all'>(kind === undefined ? 'all' : 'kind')
  const kinds = which === 'kind' && kind !== undefined ? [kind] : []
  return (
    <Dialog title="Export" onClose={onClose}>
      <Choice
        legend="As"
        value={target}
        options={{ fixture: 'a fixture, downloaded', managed: 'a managed export, on the machine of the server' }}
        onChange={setTarget}
      />
      {kind !== undefined && (
        <Choice
          legend="Entities"
          value={which}
          options={{ kind: `of the kind ${kind}`, all: 'of all kinds' }}
          onChange={setWhich}
        />
      )}
      <p class="muted">
        Of project <SafeText text={scope.project} />, database <SafeText text={scope.database || '(default)'} />.
      </p>
      <div hidden={target !== 'fixture'}>
        <DownloadForm scope={scope} kinds={kinds} />
      </div>
      <div hidden={target !== 'managed'}>
        <ManagedTransferForm scope={scope} direction="export" kinds={kinds} />
      </div>
    </Dialog>
  )
}

type Download = { readonly bytes: number; readonly isDone: boolean } | Error

function DownloadForm({ scope, kinds }: { readonly scope: EntityScope; readonly kinds: readonly string[] }) {
  const [format, setFormat] = useState<FixtureFormat>('yaml')
  const [isOneNamespace, setIsOneNamespace] = useState(false)
  const [download, setDownload] = useState<Download | undefined>(undefined)
  const running = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const start = async (event: Event): Promise<void> => {
    event.preventDefault()
    const abort = new AbortController()
    running.current = abort
    setDownload({ bytes: 0, isDone: false })
    try {
      const onBytes = (bytes: number): void => setDownload({ bytes, isDone: false })
      const choice = { format, kinds, isOneNamespace }
      const file = await downloadFixture(scope, choice, { signal: abort.signal, onBytes })
      saveAs(file, `${kinds[0] ?? scope.project}.${format}`)
      setDownload({ bytes: file.size, isDone: true })
    } catch (error) {
      setDownload(abort.signal.aborted ? undefined : (error as Error))
    }
  }
  const isRunning = download !== undefined && 'bytes' in download && !download.isDone
  return (
    <form class="transfer-form" onSubmit={(event) => void start(event)}>
      <div class="toolbar">
        <label>
          Format{' '}
          <select value={format} onChange={(event) => setFormat(event.currentTarget.value as FixtureFormat)}>
            <option value="yaml">YAML</option>
            <option value="json">JSON</option>
            <option value="csv">CSV</option>
          </select>
        </label>
        <label>
          <input type="checkbox" checked={isOneNamespace} onChange={() => setIsOneNamespace(!isOneNamespace)} /> only
          namespace <SafeText text={scope.namespace || '(default)'} />
        </label>
        <button type="submit" class="primary" disabled={isRunning}>
          Download
        </button>
        {isRunning && (
          <button type="button" onClick={() => running.current?.abort()}>
            Cancel
          </button>
        )}
      </div>
      <p role="status">{download !== undefined && 'bytes' in download && downloadInWords(download)}</p>
      {download instanceof Error && <ErrorNote error={download} what="Nothing was exported" />}
    </form>
  )
}

function downloadInWords({ bytes, isDone }: { readonly bytes: number; readonly isDone: boolean }): string {
  const size = `${Math.ceil(bytes / 1024).toLocaleString('en')} kB`
  return isDone ? `Downloaded ${size}.` : `${size} so far…`
}

function saveAs(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
