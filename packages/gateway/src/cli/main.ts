/**
 * The `sixtables` command: reads the arguments, picks the command, and turns every failure into one line and an exit code
 * (see errors.ts). Commands are imported only when they run, so that help and mistakes are answered at once.
 *
 *   sixtables [start]       the emulator
 *   sixtables check         compares entities, index rows, log and markers
 *   sixtables export, import    writes and reads files of the managed export format
 *   sixtables ids …         shows what ids are given next; takes ranges, reserves
 *   sixtables indexes …     shows, creates and deletes composite indexes
 *   sixtables inspect …     shows rows, log records and what waits to be applied; releases held steps
 */
import { readFileSync } from 'node:fs'
import yargs, { type Argv } from 'yargs'
import { exitCodes, OperationError, UsageError } from './errors.ts'
import { addIdsCommands, idsCommandNames } from './ids-commands.ts'
import { addIndexesCommands, indexesCommandNames } from './indexes-commands.ts'
import { type Io, processIo } from './io.ts'
import { nearest } from './nearest.ts'
import type { Flags } from './settings.ts'
import { ignoredFlags, startFlags } from './start-flags.ts'
import { targetFlags } from './target-flags.ts'
import { transferFlags } from './transfer-flags.ts'

/** Runs one command; resolves with its exit code when it is over, for `start` when the server has stopped. */
export async function main(args: readonly string[], io: Io = processIo): Promise<number> {
  try {
    const { command, help } = await parse(args.map(plainFlag))
    if (help !== '') {
      io.out(help)
      return exitCodes.ok
    }
    return await command(io)
  } catch (error) {
    if (error instanceof UsageError) {
      io.err(`sixtables: ${error.message}`)
      return exitCodes.usage
    }
    if (error instanceof OperationError) {
      io.err(`sixtables: ${error.message}`)
      return exitCodes.failed
    }
    throw error
  }
}

type Command = (io: Io) => Promise<number>

/** `--store_on_disk=true` and `--store-on-disk=true` are the same flag. */
function plainFlag(arg: string): string {
  return arg.replace(/^--[^=]*/, (name) => name.replaceAll('_', '-'))
}

/** The command that the arguments ask for, or the help or version text that answers them. */
async function parse(args: readonly string[]): Promise<{ command: Command; help: string }> {
  let command: Command | undefined
  const choose = (chosen: (flags: Flags, io: Io) => Promise<number>) => (flags: Flags) => {
    command = (io) => chosen(flags, io)
  }
  const start = choose(async (flags, io) => (await import('./start.ts')).start(flags, io))
  let help = ''
  await yargs()
    .scriptName('sixtables')
    .usage('$0 <command>\n\nA Google Cloud Datastore emulator on six Bigtable-style tables.')
    .command('$0', false, startCommand, start)
    .command('start', 'Start the emulator (also without a command)', startCommand, start)
    .command(
      'check',
      'Compare entities, index rows, log and markers; exit code 1 when they disagree',
      (y) =>
        targetOptions(y)
          .option('repair', {
            type: 'boolean',
            describe: 'Write the index rows anew from the entities',
            group: 'Check:',
          })
          .example('$0 check', 'asks the server on 127.0.0.1:8081')
          .example('$0 check --data-dir .sixtables --json', 'opens a folder that no server uses'),
      choose(async (flags, io) => (await import('./check.ts')).check(flags, io)),
    )
    .command(
      'export <dir>',
      'Write a database to files of the managed export format',
      (y) =>
        transferOptions(y)
          .positional('dir', { type: 'string', demandOption: true, describe: 'A folder that does not exist yet' })
          .example('$0 export backup', 'asks the server on 127.0.0.1:8081')
          .example('$0 export tasks --kind Task --data-dir .sixtables', 'opens a folder that no server uses'),
      choose(async (flags, io) => (await import('./export.ts')).exportDatabase(flags, io)),
    )
    .command(
      'import <metadata-file>',
      'Read a managed export into a database',
      (y) =>
        transferOptions(y)
          .positional('metadata-file', {
            type: 'string',
            demandOption: true,
            describe: 'The .overall_export_metadata file of the export, or its folder',
          })
          .example('$0 import backup', 'into the server on 127.0.0.1:8081')
          .example('$0 import backup --data-dir .sixtables', 'into a folder that no server uses'),
      choose(async (flags, io) => (await import('./import.ts')).importDatabase(flags, io)),
    )
    .command('ids', 'Show what ids are given next, reserve ids, take ranges', (y) => addIdsCommands(y, choose))
    .command('indexes', 'Show, create and delete composite indexes', (y) => addIndexesCommands(y, choose))
    .command('inspect', 'Show rows, log records and waiting writes', (y) =>
      y
        .command(
          'rows <key>',
          'The rows of one entity in all six tables',
          (z) => keyOptions(z).example('$0 inspect rows ToDo:1', 'key of kind ToDo with id 1'),
          choose(async (flags, io) => (await import('./inspect.ts')).inspectRows(flags, io)),
        )
        .command(
          'log <key>',
          'The log records of the entity group of a key, newest last',
          (z) => keyOptions(z).example(`$0 inspect log 'User:"ada"/ToDo:5'`, 'the group of User:"ada"'),
          choose(async (flags, io) => (await import('./inspect.ts')).inspectLog(flags, io)),
        )
        .command(
          'pending',
          'What is committed and not wholly applied',
          (z) => targetOptions(z).example('$0 inspect pending', 'asks the server on 127.0.0.1:8081'),
          choose(async (flags, io) => (await import('./inspect.ts')).inspectPending(flags, io)),
        )
        .command(
          'applied',
          'The latest steps of applying, and why each was taken',
          (z) => targetOptions(z).example('$0 inspect applied', 'asks the server on 127.0.0.1:8081'),
          choose(async (flags, io) => (await import('./inspect.ts')).inspectApplied(flags, io)),
        )
        .command(
          'release [key]',
          'Apply what is held back in the entity group of a key, or everything',
          (z) =>
            keyOptions(z, false)
              .option('milestone', {
                type: 'string',
                describe: 'How far: A writes the entity row, B the index rows as well',
                default: 'B',
                group: 'Release:',
              })
              .example('$0 inspect release ToDo:1 --milestone A', 'entity row now, index rows later'),
          choose(async (flags, io) => (await import('./inspect.ts')).inspectRelease(flags, io)),
        )
        .demandCommand(1, 'inspect wants one of: rows, log, pending, applied, release'),
    )
    .help()
    .alias('help', 'h')
    .version(version())
    .locale('en')
    .wrap(Math.min(process.stdout.columns ?? 100, 100))
    .parserConfiguration({ 'greedy-arrays': false, 'camel-case-expansion': false })
    .strict()
    .exitProcess(false)
    .fail((message, error) => {
      // What yargs finds wrong comes as a message, or as an error of its own class.
      if (error !== undefined && error.name !== 'YError') throw error
      throw new UsageError(explain(message ?? error.message, args))
    })
    .parseAsync([...args], {}, (_error, _flags, output) => {
      help = output
    })
  if (command === undefined && help === '') throw new UsageError('no command was given; see sixtables --help')
  return { command: command ?? (async () => exitCodes.ok), help }
}

function startCommand(y: Argv): Argv {
  for (const flag of startFlags) {
    const defaults = flag.default === undefined ? {} : { defaultDescription: flag.default }
    const choices = flag.choices === undefined ? '' : ` (${flag.choices.join(', ')})`
    y.option(flag.name, {
      type: flag.type === 'boolean' ? 'boolean' : flag.type === 'list' ? 'array' : 'string',
      ...(flag.type === 'boolean' ? {} : { string: true }),
      ...(flag.name === 'port' ? { alias: 'p' } : {}),
      describe: flag.describe + choices,
      group: `${flag.group}:`,
      ...defaults,
    })
  }
  for (const name of ignoredFlags) y.option(name, { hidden: true })
  return y
    .example('$0', 'data in .sixtables, on 127.0.0.1:8081')
    .example('$0 start --testing --port 0', 'in memory, on a free port')
    .example('$0 start --mode legacy --seed 7', 'stale queries that replay')
}

function targetOptions(y: Argv): Argv {
  for (const { name, ...flag } of targetFlags) y.option(name, flag)
  return y
}

function transferOptions(y: Argv): Argv {
  for (const { name, ...flag } of transferFlags) y.option(name, flag)
  return y
}

function keyOptions(y: Argv, demanded = true): Argv {
  return targetOptions(y).positional('key', {
    type: 'string',
    demandOption: demanded,
    describe: 'ToDo:1 or User:"ada"/ToDo:5, root first',
  })
}

function version(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}

/** The names that a command line may go on with, by what it began with. */
const commands: Readonly<Record<string, readonly string[]>> = {
  '': ['start', 'check', 'export', 'import', 'ids', 'indexes', 'inspect'],
  ids: idsCommandNames,
  indexes: indexesCommandNames,
  inspect: ['rows', 'log', 'pending', 'applied', 'release'],
}

/** A parser's complaint with what would help: the nearest flag or command. */
function explain(message: string, args: readonly string[]): string {
  const unknown = /^Unknown (?:arguments?|commands?): (.*)$/.exec(message)?.[1]?.split(', ')
  if (message.startsWith('Not enough non-option arguments')) {
    if (args.includes('export')) return 'name the folder to write, as in sixtables export backup'
    if (args.includes('import')) return 'name the metadata file of an export, or its folder'
    if (args.includes('indexes')) return 'something is missing; see sixtables indexes --help'
    if (args.includes('ids')) return 'something is missing; see sixtables ids --help'
    return 'a key is missing; write it like ToDo:1 or User:"ada"/ToDo:5'
  }
  if (unknown === undefined) return message.charAt(0).toLowerCase() + message.slice(1)
  // yargs names a flag in several spellings; the one that was typed tells flag and word apart.
  // Behind a command that it does not know, it knows no flag either.
  const known = [...startFlags, ...targetFlags, ...transferFlags].map(({ name }) => name)
  const word = unknown.find((name) => name !== '' && !known.includes(name)) ?? unknown.find((name) => name !== '') ?? ''
  const isFlag = args.some((arg) => arg.startsWith('-') && arg.replace(/^--?(no-)?/, '').replace(/=.*/, '') === word)
  const near = nearest(
    word,
    isFlag
      ? [...known, 'milestone', 'repair', 'size', 'max', 'ancestor', 'help', 'version']
      : (commands[args[0] ?? ''] ?? commands[''] ?? []),
  )
  const dashes = isFlag ? (word.length === 1 ? '-' : '--') : ''
  const hint = near === undefined ? 'see sixtables --help' : `did you mean ${isFlag ? '--' : ''}${near}?`
  return `there is no ${isFlag ? 'flag' : 'command'} ${dashes}${word}; ${hint}`
}
