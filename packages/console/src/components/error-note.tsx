/** An error in the words of the API, and a way on. */

import { ApiError } from '../api/http.ts'
import { Button } from './button.tsx'
import { SafeLines } from './safe-text.tsx'

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
