/**
 * The failures of the command line, and the exit codes that scripts may rely on.
 *
 *   0  all went well
 *   1  the command ran and found something wrong: a damaged store, an operation that failed
 *   2  the command could not be carried out as asked: a flag, a name, a port, a folder
 */
export const exitCodes = { ok: 0, failed: 1, usage: 2 } as const

/** Told to the user in its one message, without stack or help text; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** An operation that was understood but failed; told in its one message, exit code 1. */
export class OperationError extends Error {
  override readonly name = 'OperationError'
}
