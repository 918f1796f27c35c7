/** The dialogs of Data for entities: the editor, and import and export. Their code is loaded when one is opened. */
import { Button } from '../../components/button.tsx'
import { onDemand } from '../../components/on-demand.tsx'
import { formatKeyPath, parseKeyPath } from '../../model/key-text.ts'
import { navigate } from '../../model/route.ts'
import { addressOfPlace, movedTo, type Place } from './address.ts'

export type OpenDialog =
  | { readonly type: 'create' | 'import' | 'export' }
  | { readonly type: 'duplicate'; readonly key: string }

const EntityEditor = onDemand(
  async () => (await import('../../components/entity-editor/entity-editor.tsx')).EntityEditor,
)
const ImportDialog = onDemand(async () => (await import('../../components/transfer/import-dialog.tsx')).ImportDialog)
const ExportDialog = onDemand(async () => (await import('../../components/transfer/export-dialog.tsx')).ExportDialog)

export function EntityActions({ onDialog }: { readonly onDialog: (dialog: OpenDialog) => void }) {
  return (
    <div class="toolbar">
      <Button label="New entity…" onClick={() => onDialog({ type: 'create' })} />
      <Button label="Import…" onClick={() => onDialog({ type: 'import' })} />
      <Button label="Export…" onClick={() => onDialog({ type: 'export' })} />
    </div>
  )
}

export interface DialogsProps {
  readonly place: Place
  readonly dialog: OpenDialog | undefined
  readonly onDialog: (dialog: OpenDialog | undefined) => void
  /** The entity in the editor is another one, or none. */
  readonly onOpened: (key: string | undefined) => void
}

export function Dialogs({ place, dialog, onDialog, onOpened }: DialogsProps) {
  const { project, database, namespace, kind, opened } = place
  const scope = { project, database, namespace }
  const close = (): void => onDialog(undefined)
  if (opened !== undefined) {
    return (
      <EntityEditor key={opened} scope={scope} entityKey={opened} mode="edit" onClose={() => onOpened(undefined)} />
    )
  }
  switch (dialog?.type) {
    case 'create':
      return (
        <EntityEditor
          scope={scope}
          entityKey={kind === '' ? '' : formatKeyPath([{ kind }])}
          mode="create"
          onClose={close}
          onSaved={({ key }) => showKindOf(place, key)}
        />
      )
    case 'duplicate':
      return <EntityEditor scope={scope} entityKey={dialog.key} mode="duplicate" onClose={close} />
    case 'import':
      return <ImportDialog scope={scope} onClose={close} />
    case 'export':
      return <ExportDialog scope={scope} kind={kind === '' ? undefined : kind} onClose={close} />
    default:
      return null
  }
}

/** An entity of another kind is shown among its own. */
function showKindOf(place: Place, key: string): void {
  const kind = parseKeyPath(key).at(-1)?.kind ?? ''
  if (kind !== place.kind) navigate(addressOfPlace(movedTo(place, { kind })))
}
