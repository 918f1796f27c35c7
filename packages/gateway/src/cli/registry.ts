/**
 * All commands, in the order in which help and reference show them. A new command is a file in commands/ and a line here.
 */
import type { Command } from './command.ts'
import { checkCommand } from './commands/check.ts'
import { exportCommand } from './commands/export.ts'
import { idsCommand } from './commands/ids.ts'
import { importCommand } from './commands/import.ts'
import { indexesCommand } from './commands/indexes.ts'
import { inspectCommand } from './commands/inspect.ts'
import { startCommand } from './commands/start.ts'

/** The command that runs when none is named. */
export const defaultCommand: Command = startCommand

export const commands: readonly Command[] = [
  startCommand,
  checkCommand,
  exportCommand,
  importCommand,
  idsCommand,
  indexesCommand,
  inspectCommand,
]
