/** The dialogs for entities of a scope: the editor, and import and export. Their code is loaded when one is opened. */
import type { EntityScope } from '../model/scope.ts'
import { Button } from './controls.tsx'
import { onDemand } from './on-demand.tsx'

export type OpenDialog =
  | { readonly type: 'create' | 'import' | 'export' }
  | { readonly type: 'edit' | 'duplicate'; readonly key: string }

export const EntityEditor = onDemand(async () => (await import('./entity-editor/entity-editor.tsx')).EntityEditor)
const ImportDialog = onDemand(async () => (await import('./transfer/dialogs.tsx')).ImportDialog)
const ExportDialog = onDemand(async () => (await import('./transfer/dialogs.tsx')).ExportDialog)

export function EntityActions({ onDialog }: { readonly onDialog: (dialog: OpenDialog) => void }) {
  return (
    <div class="toolbar">
      <Button label="New entity…" onClick={() => onDialog({ type: 'create' })} />
      <Button label="Import…" onClick={() => onDialog({ type: 'import' })} />
      <Button label="Export…" onClick={() => onDialog({ type: 'export' })} />
    </div>
  )
}

export interface EntityDialogsProps {
  readonly scope: EntityScope
  readonly dialog: OpenDialog | undefined
  readonly newKey?: string
  readonly kind?: string | undefined
  readonly onClose: () => void
  readonly onCreated?: (key: string) => void
}

export function EntityDialogs({ scope, dialog, newKey = '', kind, onClose, onCreated }: EntityDialogsProps) {
  if (dialog === undefined) return null
  if (dialog.type === 'import') return <ImportDialog scope={scope} onClose={onClose} />
  if (dialog.type === 'export') return <ExportDialog scope={scope} kind={kind} onClose={onClose} />
  const entityKey = 'key' in dialog ? dialog.key : newKey
  const onSaved = dialog.type === 'create' && onCreated !== undefined ? { onSaved: onCreated } : {}
  return <EntityEditor key={entityKey} mode={dialog.type} {...{ scope, entityKey, onClose }} {...onSaved} />
}
