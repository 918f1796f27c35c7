/**
 * The server's log: one line for each event from a level up, on stderr.
 *
 *   2030-01-31T12:00:00.000Z warn  the message
 */
import type { Logger } from '../../../logger.ts'

export const logLevels = ['error', 'warn', 'info', 'debug'] as const

export type LogLevel = (typeof logLevels)[number]

export interface LoggerOptions {
  readonly level: LogLevel
  readonly write: (line: string) => void
  readonly now?: () => Date
}

/** A logger for events of at least `level`. Further lines of a message are indented, so that it looks like one event. */
export function lineLogger({ level, write, now = () => new Date() }: LoggerOptions): Logger {
  const highest = logLevels.indexOf(level)
  const at = (own: LogLevel) => (message: string) => {
    if (logLevels.indexOf(own) > highest) return
    write(`${now().toISOString()} ${own.padEnd(5)} ${message.replaceAll('\n', '\n    ')}`)
  }
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') }
}
