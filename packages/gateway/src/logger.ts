/** The gateway's log of faults on the server's side. */
import { DatastoreError } from '@sixtables/engine'

export interface Logger {
  error(message: string): void
  warn(message: string): void
  info(message: string): void
  debug(message: string): void
}

/**
 * Logs failures of background work: one line for a failure that a user can mend, a stack for others. A failure that repeats, as all
 * work of a full disk does, is logged once. `undefined` means that work succeeds again.
 */
export function failureLog(logger: Logger): (error: unknown) => void {
  let last: string | undefined
  return (error) => {
    if (error === undefined) {
      last = undefined
      return
    }
    const isExpected = error instanceof DatastoreError || (error instanceof Error && 'syscall' in error)
    const words = error instanceof Error ? String(isExpected ? error.message : error.stack) : String(error)
    if (words !== last) logger.error(words)
    last = words
  }
}

export const silentLogger: Logger = {
  error() {},
  warn() {},
  info() {},
  debug() {},
}
