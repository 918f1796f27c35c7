/** Words about a state: an error and a way on, the end of an action, a view with nothing to show yet. */

import type { ComponentChildren } from 'preact'
import { ApiError } from '../api/http.ts'
import { Button } from './controls.tsx'
import { SafeLines } from './text.tsx'
import type { Action } from './use-server.ts'

export interface ErrorNoteProps {
  readonly error: Error
  /** The action that failed: `The query could not be run`. */
  readonly what?: string
  readonly onRetry?: () => void
}

export function ErrorNote({ error, what, onRetry }: ErrorNoteProps) {
  return (
    <div class="error-note" role="alert">
      {what !== undefined && <p class="error-note-what">{what}</p>}
      <p>
        {error instanceof ApiError && <code>{error.status}</code>} <SafeLines text={error.message} />
      </p>
      {onRetry !== undefined && <Button label="Try again" onClick={onRetry} />}
    </div>
  )
}

export interface ActionNoteProps {
  readonly action: Pick<Action<readonly never[]>, 'error' | 'done'>
  /** The action that may fail: `The snapshot could not be taken`. */
  readonly what: string
}

export function ActionNote({ action: { error, done }, what }: ActionNoteProps) {
  return (
    <>
      {error !== undefined && <ErrorNote error={error} what={what} />}
      <p role="status" class="action-done">
        {done}
      </p>
    </>
  )
}

export function EmptyState({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty-state">
      <h2>{title}</h2>
      {children}
    </div>
  )
}
