/**
 * All commands, in the order of help and reference. A new command is a folder in commands/ and a line here; `npm run golden` then
 * writes its chapter of docs/reference/cli.md.
 */

import { bigtableCommand } from './commands/bigtable/command.ts'
import { checkCommand } from './commands/check/command.ts'
import { clockCommand } from './commands/clock/command.ts'
import { completionCommand } from './commands/completion/command.ts'
import { consoleCommand } from './commands/console/command.ts'
import { createCommand } from './commands/create/command.ts'
import { dumpCommand } from './commands/dump/command.ts'
import { deleteCommand, getCommand, putCommand } from './commands/entity/command.ts'
import { envCommand, envInitCommand, envUnsetCommand } from './commands/env/command.ts'
import { exportCommand } from './commands/export/command.ts'
import { faultsCommand } from './commands/faults/command.ts'
import { findingsCommand } from './commands/findings/command.ts'
import { gqlCommand } from './commands/gql/command.ts'
import { healthCommand } from './commands/health/command.ts'
import { idsCommand } from './commands/ids/command.ts'
import { importCommand } from './commands/import/command.ts'
import { indexesCommand } from './commands/indexes/command.ts'
import { inspectCommand } from './commands/inspect/command.ts'
import { recordCommand } from './commands/record/command.ts'
import { requestsCommand } from './commands/requests/command.ts'
import { resetCommand } from './commands/reset/command.ts'
import { seedCommand } from './commands/seed/command.ts'
import { startCommand } from './commands/start/command.ts'
import { statsCommand } from './commands/stats/command.ts'
import { topCommand } from './commands/top/command.ts'
import type { Command, Program } from './framework/command.ts'

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
  consoleCommand,
  topCommand,
  findingsCommand,
  statsCommand,
  requestsCommand,
  recordCommand,
  inspectCommand,
  checkCommand,
  idsCommand,
  indexesCommand,
  faultsCommand,
  clockCommand,
  completionCommand,
  bigtableCommand,
  createCommand,
  envInitCommand,
  envUnsetCommand,
]

export const program: Program = { commands, defaultCommand: startCommand }
