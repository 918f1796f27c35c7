/**
 * Entities to elsewhere: a fixture as a file of the browser, or a managed export on the server's machine.
 *
 *   <ExportDialog scope={{ project, database, namespace }} kind="ToDo" onClose={…} />
 */

import type { FixtureFormat } from '@sixtables/gateway/browser'
import { useState } from 'preact/hooks'
import { downloadFixture } from '../../api/transfer.ts'
import { bytesInWords } from '../../model/numbers.ts'
import type { EntityScope } from '../../model/scope.ts'
import { Check, Form } from '../controls.tsx'
import { Dialog } from '../dialog.tsx'
import { ErrorNote, safeText } from '../parts.tsx'
import { saveFile } from '../save-file.ts'
import { useTask } from '../use-task.ts'
import { Choice, FormatChoice, Start } from './choice.tsx'
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
        Of project {safeText(scope.project)}, database {safeText(scope.database || '(default)')}.
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

function DownloadForm({ scope, kinds }: { readonly scope: EntityScope; readonly kinds: readonly string[] }) {
  const [format, setFormat] = useState<FixtureFormat>('yaml')
  const [isOneNamespace, setIsOneNamespace] = useState(false)
  const { start, cancel, isBusy, state } = useTask<[], never>(async ({ signal, tell }) => {
    const onBytes = (bytes: number): void => tell(`${bytesInWords(bytes)} so far…`)
    onBytes(0)
    const file = await downloadFixture(scope, { format, kinds, isOneNamespace }, { signal, onBytes })
    saveFile(file, `${kinds[0] ?? scope.project}.${format}`)
    return `Downloaded ${bytesInWords(file.size)}.`
  })
  return (
    <Form class="transfer-form stack-3" onSubmit={start}>
      <div class="toolbar">
        <FormatChoice value={format} onChange={setFormat} />
        <Check
          label={safeText(`only namespace ${scope.namespace || '(default)'}`)}
          isOn={isOneNamespace}
          onSwitch={setIsOneNamespace}
        />
        <Start label="Download" isBusy={isBusy} onCancel={cancel} />
      </div>
      <p role="status">{typeof state === 'string' && state}</p>
      {state instanceof Error && <ErrorNote error={state} what="Nothing was exported" />}
    </Form>
  )
}
