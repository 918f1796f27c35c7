/**
 * Deletion of all that a query finds, or of the selected entities: first how many, then with progress, until it is done or cancelled.
 *
 *   counting ─▶ asked ─▶ deleting ─▶ done
 *                            └─────▶ cancelled: what is deleted stays deleted
 *
 * Keys are read and deleted a page at a time; a cancelled deletion ends behind the page at hand. A selected entity is deleted as it was seen: one
 * that another writer has changed since stays.
 */
import { printGql, type SelectStatement } from '@sixtables/gateway/browser'
import { useState } from 'preact/hooks'
import { type EntityResult, keyPages, readCount } from '../../api/datastore.ts'
import { type Deletion, deleteEntities } from '../../api/entities.ts'
import { Button } from '../../components/controls.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { useTask } from '../../components/hooks.ts'
import { ErrorNote, safeText } from '../../components/parts.tsx'
import { useLoaded } from '../../components/use-server.ts'
import { counted, entitiesInWords } from '../../model/numbers.ts'
import type { EntityScope } from '../../model/scope.ts'
import { countOf } from '../../model/statements.ts'

interface DeleteDialogProps {
  readonly scope: EntityScope
  /** The query whose results go, or the results. */
  readonly what: SelectStatement | readonly EntityResult[]
  readonly onClose: () => void
}

export function DeleteDialog({ scope, what, onClose }: DeleteDialogProps) {
  const total = useLoaded('total', {
    read: async (_, options) => (isQuery(what) ? readCount(scope, countOf(what), options) : what.length),
  })
  const [deleted, setDeleted] = useState<number | undefined>(undefined)
  const [changed, setChanged] = useState(0)
  const deletion = useTask<'done'>(async ({ signal }) => {
    let count = 0
    setDeleted(count)
    for await (const page of pagesOf(scope, what)) {
      if (signal.aborted) return 'cancelled'
      const stay = await deleteEntities(scope, page)
      count += page.length - stay
      setDeleted(count)
      setChanged((before) => before + stay)
    }
    return 'done'
  })
  const close = (): void => {
    deletion.cancel()
    onClose()
  }
  const { value: most = 0 } = total
  const error = deletion.state instanceof Error ? deletion.state : total.error
  const isAsked = deleted === undefined && most > 0
  const actions = (
    <>
      {deletion.isBusy && <Button label="Cancel" onClick={deletion.cancel} />}
      {isAsked && <Button label="Keep them" onClick={close} />}
      {isAsked && <Button label={`Delete ${entitiesInWords(most)}`} look="danger" onClick={deletion.start} />}
    </>
  )
  return (
    <Dialog title="Delete entities" onClose={close} actions={deletion.isBusy || isAsked ? actions : undefined}>
      {isQuery(what) && <pre>{safeText(printGql(what))}</pre>}
      <p role="status">{deleted === undefined ? askedWords(total.value) : deletedWords(deleted, most, deletion)}</p>
      {changed > 0 && <p>Another writer has changed {entitiesInWords(changed)} meanwhile. What is new there stays.</p>}
      {deleted !== undefined && (
        <progress class="delete-progress" aria-label="Deleted" max={Math.max(1, most)} value={deleted} />
      )}
      <ErrorNote error={error} what="Not all could be deleted" />
    </Dialog>
  )
}

function askedWords(total: number | undefined): string {
  if (total === undefined) return 'Counting what would be deleted …'
  if (total === 0) return 'The query finds nothing to delete.'
  return `${entitiesInWords(total)} would be deleted. This cannot be undone.`
}

function deletedWords(deleted: number, total: number, { isBusy, state }: { isBusy: boolean; state: unknown }): string {
  if (isBusy) return `Deleted ${counted(deleted)} of ${counted(total)} …`
  if (state === 'done') return `Deleted ${entitiesInWords(deleted)}.`
  return `Stopped after ${entitiesInWords(deleted)}; the others are still there.`
}

async function* pagesOf(scope: EntityScope, what: DeleteDialogProps['what']): AsyncGenerator<readonly Deletion[]> {
  if (isQuery(what)) for await (const keys of keyPages(scope, what)) yield keys.map((key) => ({ key }))
  else {
    const seen = what.map(({ entity: { key }, version }) => ({ key, version }))
    for (let at = 0; at < seen.length; at += 100) yield seen.slice(at, at + 100)
  }
}

function isQuery(what: DeleteDialogProps['what']): what is SelectStatement {
  return !Array.isArray(what)
}
