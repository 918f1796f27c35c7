/**
 * All commands, in the order of help and reference. A new command is an entry of a page in commands/; `npm run golden` then writes its
 * chapter of docs/reference/cli.md.
 */
import { controlCommands } from './commands/control-commands.ts'
import { dataCommands } from './commands/data-commands.ts'
import { createCommand, startCommand } from './commands/start/start-command.ts'
import { watchCommands } from './commands/watch-commands.ts'
import type { Command, Program } from './framework/command.ts'

export const commands: readonly Command[] = [
  startCommand,
  ...dataCommands,
  ...watchCommands,
  ...controlCommands,
  createCommand,
]

export const program: Program = { commands, defaultCommand: startCommand }
