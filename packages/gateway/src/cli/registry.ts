/**
 * All commands, in the order in which help and reference show them. A new command is a file in commands/ and a
 * line here; `npm run golden` then writes its chapter of docs/reference/cli.md.
 */
import type { Command } from './command.ts'
import { checkCommand } from './commands/check.ts'
import { completionCommand } from './commands/completion.ts'
import { clockCommand, faultsCommand, findingsCommand } from './commands/controls.ts'
import { createCommand } from './commands/create.ts'
import { dumpCommand } from './commands/dump.ts'
import { deleteCommand, getCommand, putCommand } from './commands/entity.ts'
import { envCommand, envInitCommand, envUnsetCommand } from './commands/env.ts'
import { exportCommand } from './commands/export.ts'
import { gqlCommand } from './commands/gql.ts'
import { healthCommand } from './commands/health.ts'
import { idsCommand } from './commands/ids.ts'
import { importCommand } from './commands/import.ts'
import { indexesCommand } from './commands/indexes.ts'
import { inspectCommand } from './commands/inspect.ts'
import { resetCommand } from './commands/reset.ts'
import { seedCommand } from './commands/seed.ts'
import { startCommand } from './commands/start.ts'
import { statsCommand } from './commands/stats.ts'
import { topCommand } from './commands/top.ts'

/** The command that runs when none is named. */
export const defaultCommand: Command = startCommand

export const commands: readonly Command[] = [
  startCommand,
  envCommand,
  healthCommand,
  gqlCommand,
  getCommand,
  putCommand,
  deleteCommand,
  seedCommand,
  dumpCommand,
  exportCommand,
  importCommand,
  resetCommand,
  topCommand,
  findingsCommand,
  statsCommand,
  inspectCommand,
  checkCommand,
  idsCommand,
  indexesCommand,
  faultsCommand,
  clockCommand,
  completionCommand,
  createCommand,
  envInitCommand,
  envUnsetCommand,
]
