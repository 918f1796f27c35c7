/** The result of an action, or its refusal. */
import { ErrorNote } from './error-note.tsx'
import type { Action } from './use-loaded.ts'

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
