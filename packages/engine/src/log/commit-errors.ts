/** Errors of commits whose batch was not written. */
import { DatastoreError } from '../errors.ts'

/** The error of a commit that was refused because of rows that were never written; it wrote nothing itself. */
export function nothingWritten(error: unknown): never {
  if (!(error instanceof DatastoreError)) throw error
  throw new DatastoreError(error.code, error.message, { cause: error })
}

/** Whether the commit is written only a look at the store can tell. */
export function unknownOutcome(error: unknown): never {
  if (!(error instanceof DatastoreError)) throw error
  throw new DatastoreError(error.code, error.message, { committed: 'unknown', cause: error })
}
