/**
 * Errors of an engine or a server as messages of the command line: a mistake in the request, such as INVALID_ARGUMENT, is a UsageError (exit
 * code 2); others are OperationErrors (exit code 1).
 */
import { DatastoreError } from '@sixtables/engine'
import { OperationError, UsageError } from '../framework/errors.ts'

/** @param code - a name of google.rpc.Code; `undefined` if the server sent none */
export function refusal(code: string | undefined, message: string): UsageError | OperationError {
  return code === 'INVALID_ARGUMENT' ? new UsageError(message) : new OperationError(message)
}

/** Reads something that the user wrote. @throws UsageError for what the engine refuses, in the engine's words or those of `say` */
export function understood<T>(read: () => T, say: (message: string) => string = (message) => message): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof DatastoreError ? new UsageError(say(error.message)) : error
  }
}
