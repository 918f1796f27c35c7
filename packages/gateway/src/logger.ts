/** Where the gateway says what went wrong on our side. */
import { DatastoreError } from '@sixtables/engine'

export interface Logger {
  error(message: string): void
  warn(message: string): void
  info(message: string): void
  debug(message: string): void
}

/**
 * Failures of background work: one line for those that a user can mend, a stack for the others. What fails
 * again and again, as all work of a store that takes no more writes does, is said once. `undefined`: it is over.
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
