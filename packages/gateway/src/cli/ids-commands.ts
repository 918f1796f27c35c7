/**
 * The commands below `sixtables ids` for the parser. What they do is in ids.ts, imported only when one runs.
 */
import type { Argv } from 'yargs'
import type { Io } from './io.ts'
import type { Flags } from './settings.ts'
import { targetFlags } from './target-flags.ts'

type Run = (flags: Flags, io: Io) => Promise<number>

/** Their names, for "did you mean". */
export const idsCommandNames = ['next', 'reserve', 'range', 'allocate'] as const

const kindInWords = 'ToDo, or under a parent User:"ada"/ToDo'

/** @param choose - says that a command was asked for */
export function addIdsCommands(y: Argv, choose: (run: Run) => (flags: Flags) => void): Argv {
  const load = () => import('./ids.ts')
  return y
    .command(
      'next <kind>',
      'The ids that are given next; nothing moves',
      (z) => ofKind(z).example('$0 ids next ToDo', 'asks the server on 127.0.0.1:8081'),
      choose(async (flags, io) => (await load()).idsNext(flags, io)),
    )
    .command(
      'reserve <keys..>',
      'Keep the ids in these keys from being given',
      (z) =>
        target(z)
          .positional('keys', { type: 'string', array: true, demandOption: true, describe: 'ToDo:7 User:"ada"/ToDo:9' })
          .example('$0 ids reserve ToDo:7', 'moves the counter past 7'),
      choose(async (flags, io) => (await load()).idsReserve(flags, io)),
    )
    .command(
      'range <kind> <start> <end>',
      'Take a range of ids out of what is given, and say what is in it',
      (z) =>
        ofKind(z)
          .positional('start', { type: 'string', demandOption: true, describe: 'First id, 1 or above' })
          .positional('end', { type: 'string', demandOption: true, describe: 'Last id' })
          .example('$0 ids range ToDo 1 5000', 'EMPTY, CONTENTION or COLLISION'),
      choose(async (flags, io) => (await load()).idsRange(flags, io)),
    )
    .command(
      'allocate <kind>',
      'So many sequential ids in one piece, or all that are free up to one',
      (z) =>
        ofKind(z)
          .option('size', { type: 'string', describe: 'How many ids', group: 'Allocate:' })
          .option('max', { type: 'string', describe: 'The highest id', group: 'Allocate:' })
          .example('$0 ids allocate ToDo --size 100', 'the next hundred'),
      choose(async (flags, io) => (await load()).idsAllocate(flags, io)),
    )
    .demandCommand(1, `ids wants one of: ${idsCommandNames.join(', ')}`)
}

function ofKind(y: Argv): Argv {
  return target(y).positional('kind', { type: 'string', demandOption: true, describe: kindInWords })
}

function target(y: Argv): Argv {
  for (const { name, ...flag } of targetFlags) y.option(name, flag)
  return y
}
