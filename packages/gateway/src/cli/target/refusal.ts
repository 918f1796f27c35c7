/**
 * Refusals of an engine or a server as messages of the command line: a mistake in the request ends with exit code 2, as one
 * that the command line finds itself; all else failed, with 1.
 */
import { DatastoreError } from '@sixtables/engine'
import { OperationError, UsageError } from '../framework/errors.ts'

/** @param code - of google.rpc.Code, by its name; `undefined` when a server gives none */
export function refusal(code: string | undefined, message: string): UsageError | OperationError {
  return code === 'INVALID_ARGUMENT' ? new UsageError(message) : new OperationError(message)
}

/** Other errors are given back as they are. */
export function refusalOf(error: unknown): unknown {
  return error instanceof DatastoreError ? refusal(error.code, error.message) : error
}
