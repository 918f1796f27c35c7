/** Errors of commits whose batch was not written. */
import { DatastoreError } from '../errors.ts'

/** Throws for a commit that was refused because of another commit whose rows were never written. */
export function nothingWritten(error: unknown): never {
  if (!(error instanceof DatastoreError)) throw error
  throw new DatastoreError(error.code, error.message, { cause: error })
}

/** Throws for a commit of which only the store can tell whether it was written. */
export function unknownOutcome(error: unknown): never {
  if (!(error instanceof DatastoreError)) throw error
  throw new DatastoreError(error.code, error.message, { committed: 'unknown', cause: error })
}
