/** What commits hear of a batch that did not land. */
import { DatastoreError } from '../errors.ts'

/** What a refused commit saw never came to be; of its own it wrote nothing. */
export function nothingWritten(error: unknown): never {
  if (!(error instanceof DatastoreError)) throw error
  throw new DatastoreError(error.code, error.message, { cause: error })
}

/** Whether the commit has landed only a look at the store can tell. */
export function unknownOutcome(error: unknown): never {
  if (!(error instanceof DatastoreError)) throw error
  throw new DatastoreError(error.code, error.message, { committed: 'unknown', cause: error })
}
