/**
 * The failures of the command line, and the exit codes for scripts. After a signal the code is 128 and the number of SIGINT or SIGTERM, like the
 * shell's code for a command without a handler.
 */
import type { Io } from './command.ts'

export const exitCodes = { ok: 0, failed: 1, usage: 2, interrupted: 130, terminated: 143 } as const

export function exitCodeOf(signal: NodeJS.Signals): number {
  return signal === 'SIGTERM' ? exitCodes.terminated : exitCodes.interrupted
}

/** At a signal, says in one line how the command ends, and ends it. @returns stops that */
export function endedBySignal(io: Pick<Io, 'err' | 'exit' | 'onSignal'>, say: () => string): () => void {
  return io.onSignal((signal) => {
    io.err(`sixtables: ${say()}`)
    io.exit(exitCodeOf(signal))
  })
}

export const exitCodesInWords: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: 'all went well',
  failed: 'the command ran and found something wrong, or its operation failed',
  usage:
    'the command cannot be carried out as asked: a flag, a key, a port in use, a server that does not answer, a folder that cannot be opened',
  interrupted:
    'Ctrl-C (SIGINT) ended the command before it was done; where Ctrl-C is the usual end (`start`, `record`, `top`, `requests --follow`) the code is 0',
  terminated: 'the same by SIGTERM',
}

/** A mistake of the user: one message without stack or help text, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A valid operation that failed: one message, exit code 1. */
export class OperationError extends Error {
  override readonly name = 'OperationError'
}

type ErrorClass<Arguments extends unknown[]> = new (...given: Arguments) => Error

/** Throws an error of one class as another one, with the same message: `work().catch(thrownAs(OperationError, FixtureError))`. */
export function thrownAs(as: ErrorClass<[string]>, from: ErrorClass<never[]>, before = ''): (error: unknown) => never {
  return (error) => {
    throw error instanceof from ? new as(before + error.message) : error
  }
}

/** Says a failure in one line. @returns the exit code @throws any other error */
export function failed(error: unknown, { err }: { err(line: string): void }): number {
  if (!(error instanceof UsageError || error instanceof OperationError)) throw error
  err(`sixtables: ${error.message}`)
  return error instanceof UsageError ? exitCodes.usage : exitCodes.failed
}
