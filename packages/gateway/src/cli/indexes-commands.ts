/**
 * The commands below `sixtables indexes` for the parser. What they do is in indexes.ts, imported only when one runs.
 */
import type { Argv } from 'yargs'
import type { Io } from './io.ts'
import type { Flags } from './settings.ts'
import { targetFlags } from './target-flags.ts'

type Run = (flags: Flags, io: Io) => Promise<number>

/** Their names, for "did you mean". */
export const indexesCommandNames = ['list', 'create', 'delete'] as const

/** @param choose - says that a command was asked for */
export function addIndexesCommands(y: Argv, choose: (run: Run) => (flags: Flags) => void): Argv {
  const load = () => import('./indexes.ts')
  return y
    .command(
      'list',
      'The composite indexes of a database, their states and progress',
      (z) => target(z).example('$0 indexes list', 'asks the server on 127.0.0.1:8081'),
      choose(async (flags, io) => (await load()).indexesList(flags, io)),
    )
    .command(
      'create <kind> <properties..>',
      'Define a composite index and build it',
      (z) =>
        target(z)
          .positional('kind', { type: 'string', demandOption: true, describe: 'Kind of the entities' })
          .positional('properties', {
            type: 'string',
            array: true,
            demandOption: true,
            describe: 'In order; due:desc for a descending one',
          })
          .option('ancestor', {
            type: 'boolean',
            describe: 'For queries below an ancestor',
            group: 'Create:',
          })
          .example('$0 indexes create Task done due:desc', 'equality on done, newest due first'),
      choose(async (flags, io) => (await load()).indexesCreate(flags, io)),
    )
    .command(
      'delete <id>',
      'Delete a composite index and its rows',
      (z) =>
        target(z)
          .positional('id', { type: 'string', demandOption: true, describe: 'As indexes list shows it' })
          .example('$0 indexes delete 1', 'queries no longer use it from that moment'),
      choose(async (flags, io) => (await load()).indexesDelete(flags, io)),
    )
    .demandCommand(1, `indexes wants one of: ${indexesCommandNames.join(', ')}`)
}

function target(y: Argv): Argv {
  for (const { name, ...flag } of targetFlags) if (name !== 'namespace') y.option(name, flag)
  return y
}
