/**
 * Deletion of all that a query finds, or of the selected entities: first how many, then with progress, until it is done or cancelled.
 *
 *   counting ─▶ asked ─▶ deleting ─▶ done
 *                            └─────▶ cancelled: what is deleted stays deleted
 *
 * Keys are read and deleted a page at a time; a cancelled deletion ends behind the page at hand.
 */

import { printGql, type SelectStatement } from '@sixtables/gateway/browser'
import { useEffect, useRef, useState } from 'preact/hooks'
import { aggregate, deleteKeys, keyPages } from '../../api/datastore.ts'
import { Button } from '../../components/controls.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ErrorNote, safeText } from '../../components/parts.tsx'
import { counted, entitiesInWords } from '../../model/numbers.ts'
import type { EntityScope } from '../../model/scope.ts'
import { countOf } from '../../model/statements.ts'
import type { ApiKey } from '../../model/value-words.ts'

export interface DeleteDialogProps {
  readonly scope: EntityScope
  /** The query whose results go, or their keys. */
  readonly what: SelectStatement | readonly ApiKey[]
  readonly onClose: () => void
}

type State =
  | { readonly step: 'counting' }
  | { readonly step: 'asked'; readonly total: number }
  | { readonly step: 'deleting' | 'done' | 'cancelled'; readonly total: number; readonly deleted: number }

export function DeleteDialog({ scope, what, onClose }: DeleteDialogProps) {
  const [state, setState] = useState<State>({ step: 'counting' })
  const [error, setError] = useState<Error | undefined>(undefined)
  const cancel = useRef(new AbortController())
  useEffect(() => {
    const { signal } = cancel.current
    totalOf(scope, what, signal).then(
      (total) => setState({ step: 'asked', total }),
      (reason: Error) => {
        if (!signal.aborted) setError(reason)
      },
    )
    return () => cancel.current.abort()
  }, [])
  const start = async (total: number): Promise<void> => {
    const { signal } = cancel.current
    let deleted = 0
    setState({ step: 'deleting', total, deleted })
    try {
      for await (const keys of pagesOf(scope, what)) {
        if (signal.aborted) break
        await deleteKeys(scope, keys)
        deleted += keys.length
        setState({ step: 'deleting', total, deleted })
      }
      setState({ step: signal.aborted ? 'cancelled' : 'done', total, deleted })
    } catch (reason) {
      setState({ step: 'cancelled', total, deleted })
      setError(reason as Error)
    }
  }
  const close = (): void => {
    cancel.current.abort()
    onClose()
  }
  return (
    <Dialog title="Delete entities" onClose={close} actions={actionsOf(state, start, cancel.current, close)}>
      {isQuery(what) && <pre>{safeText(printGql(what))}</pre>}
      <p role="status">{wordsOf(state)}</p>
      {'deleted' in state && (
        <progress class="delete-progress" aria-label="Deleted" max={Math.max(1, state.total)} value={state.deleted} />
      )}
      {error !== undefined && <ErrorNote error={error} what="Not all could be deleted" />}
    </Dialog>
  )
}

function actionsOf(state: State, start: (total: number) => Promise<void>, cancel: AbortController, close: () => void) {
  if (state.step === 'deleting') {
    return <Button label="Cancel" onClick={() => cancel.abort()} />
  }
  if (state.step === 'asked' && state.total > 0) {
    return (
      <>
        <Button label="Keep them" onClick={close} />
        <Button
          label={`Delete ${entitiesInWords(state.total)}`}
          look="danger"
          onClick={() => void start(state.total)}
        />
      </>
    )
  }
  return undefined
}

function wordsOf(state: State): string {
  switch (state.step) {
    case 'counting':
      return 'Counting what would be deleted …'
    case 'asked':
      return state.total === 0
        ? 'The query finds nothing to delete.'
        : `${entitiesInWords(state.total)} would be deleted. This cannot be undone.`
    case 'deleting':
      return `Deleted ${counted(state.deleted)} of ${counted(state.total)} …`
    case 'done':
      return `Deleted ${entitiesInWords(state.deleted)}.`
    case 'cancelled':
      return `Stopped after ${entitiesInWords(state.deleted)}; the others are still there.`
  }
}

async function totalOf(scope: EntityScope, what: DeleteDialogProps['what'], signal: AbortSignal): Promise<number> {
  if (!isQuery(what)) return what.length
  const { n } = await aggregate(scope, countOf(what), { signal })
  return Number(n?.integerValue ?? 0)
}

async function* pagesOf(scope: EntityScope, what: DeleteDialogProps['what']): AsyncGenerator<readonly ApiKey[]> {
  if (isQuery(what)) yield* keyPages(scope, what)
  else for (let at = 0; at < what.length; at += 100) yield what.slice(at, at + 100)
}

function isQuery(what: DeleteDialogProps['what']): what is SelectStatement {
  return !Array.isArray(what)
}
