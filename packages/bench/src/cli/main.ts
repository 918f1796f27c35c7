/**
 * The `sixtables-lab` command.
 *
 *   sixtables-lab list                     the labs and their arms
 *   sixtables-lab settings                 every setting by name, with default, unit and source
 *   sixtables-lab run <name…> | --all      runs, draws, judges
 *   sixtables-lab replay <file>            plays a recording of a server's calls at a multiple of its rate
 *   sixtables-lab challenge <verb>         list, start, judge, grade: a program to improve
 *
 * Exit codes: 0 every expectation held; 1 one did not, or a run was cut short; 2 wrong usage, or a fault of the judge.
 */
import { readFileSync } from 'node:fs'
import yargs, { type Argv } from 'yargs'
import { labs } from '../labs/catalogue.ts'
import type { InkLine } from '../report/ink.ts'
import { advice } from './advice.ts'
import { challengeCommands } from './challenge-commands.ts'
import { UsageError } from './errors.ts'
import { onlyWithEndpoint, outputs, wholeNumber } from './flags.ts'
import { type Io, processIo } from './io.ts'
import { listLabs, listSettings } from './listing.ts'
import { replayFile } from './replay.ts'
import { type RunFlags, runLabs } from './run.ts'

export async function main(args: readonly string[], io: Io = processIo): Promise<number> {
  try {
    return await dispatch(args, io)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    io.err(`sixtables-lab: ${error.message}`)
    return 2
  }
}

type Command = () => number | Promise<number>

async function dispatch(args: readonly string[], io: Io): Promise<number> {
  let command: Command | undefined
  let help = ''
  const print = (lines: readonly InkLine[]): number => {
    const write = io.ink()
    for (const line of lines) write(line)
    return 0
  }
  await yargs()
    .scriptName('sixtables-lab')
    .usage(
      '$0 <command>\n\nExperiments on the sixtables engine, on virtual time, each with an expectation that can fail.',
    )
    .command('list', 'List the labs and their arms', {}, () => {
      command = () => print(listLabs())
    })
    .command('settings', 'List the settings, with default, unit and source', {}, () => {
      command = () => print(listSettings())
    })
    .command('run [labs..]', 'Run labs by name, or all of them', runOptions, (flags) => {
      command = () => runLabs(runFlags(flags), io)
    })
    .command(
      'replay <file>',
      "Play a recording of a server's calls at a multiple of its rate",
      replayOptions,
      (flags) => {
        const { file, against, ramp, times, minutes, set, seed, json, html } = flags
        const settings = { set: set ?? [], times, minutes, seed: wholeNumber('--seed', seed, 0xffff_ffff) }
        command = () => replayFile({ file, against, ramp: ramp ?? false, ...settings, json, html }, io)
      },
    )
    .command('challenge', 'Programs with a bad design: improve one, and have it judged', (y) =>
      challengeCommands(y, io, (chosen) => {
        command = chosen
      }),
    )
    .help()
    .alias('help', 'h')
    .version(version())
    .locale('en')
    .wrap(100)
    .parserConfiguration({ 'greedy-arrays': false, 'camel-case-expansion': false })
    .strict()
    .exitProcess(false)
    .fail((message, error) => {
      if (error !== undefined && error.name !== 'YError') throw error
      throw new UsageError(explained(message ?? error.message, args))
    })
    .parseAsync([...args], {}, (_error, _flags, output) => {
      help = output
    })
  if (help !== '') {
    io.out(help)
    return 0
  }
  if (command === undefined) throw new UsageError('no command was given; try list, or see sixtables-lab --help')
  return command()
}

/** The positionals, flags and examples of `run`. */
function runOptions(y: Argv) {
  return y
    .positional('labs', { type: 'string', array: true, describe: 'Names of labs, from list' })
    .option('all', { type: 'boolean', describe: 'All labs' })
    .option('seed', {
      type: 'string',
      default: '1',
      describe: 'Seed of all random numbers; the same seed prints the same results',
    })
    .option('arm', { type: 'string', array: true, describe: 'Arm to run; repeatable' })
    .option('set', { type: 'string', array: true, describe: 'Setting as name=value; the command settings lists them' })
    .options(outputs)
    .option('endpoint', {
      type: 'string',
      describe: 'Address of a running server, host:port, which gets the calls of the clients in real time',
    })
    .option('seconds', { type: 'string', describe: 'Duration of each arm in seconds, with --endpoint (default 60)' })
    .option('rate', {
      type: 'string',
      describe: 'Operations a second of arms that do not wait for answers, with --endpoint (default 200)',
    })
    .example('$0 run sequential-keys', 'all arms of this lab, with plots in the terminal')
    .example('$0 run --all --json results.json --html results.html', 'all labs, as JSON and as a page')
    .example(
      '$0 run sequential-keys --arm sequential-ids --endpoint 127.0.0.1:8081',
      'against a running server; watch it with sixtables top',
    )
    .example('$0 run hot-key --set server.opsPerSecond=500', 'with slower servers')
}

/** The positional, flags and examples of `replay`. */
function replayOptions(y: Argv) {
  return y
    .positional('file', { type: 'string', demandOption: true, describe: 'A recording, as sixtables record writes it' })
    .option('times', { type: 'string', describe: 'Its rate, multiplied (default 100)' })
    .option('minutes', {
      type: 'string',
      describe: 'Time at the full rate; a shorter recording is played in passes (default 20)',
    })
    .option('ramp', { type: 'boolean', describe: 'Before that, from 500 a second, half as much more every 5 minutes' })
    .option('against', { type: 'string', nargs: 1, describe: 'A second recording, drawn beside the first' })
    .option('set', { type: 'string', array: true, describe: 'name=value, as settings prints them' })
    .option('seed', { type: 'string', default: '1', describe: 'Of all chance; the same seed prints the same' })
    .options(outputs)
    .example('$0 replay calls.jsonl', 'at a hundred times its rate, for 20 minutes of virtual time')
    .example('$0 replay calls.jsonl --times 1000 --ramp', 'ramped up by the book')
    .example('$0 replay before.jsonl --against after.jsonl', 'two recordings in one picture')
}

function runFlags(flags: Awaited<ReturnType<typeof runOptions>['argv']>): RunFlags {
  onlyWithEndpoint(flags.endpoint, { seconds: flags.seconds, rate: flags.rate })
  return {
    names: flags.labs ?? [],
    all: flags.all ?? false,
    seed: wholeNumber('--seed', flags.seed, 0xffff_ffff),
    arms: flags.arm,
    set: flags.set ?? [],
    json: flags.json,
    html: flags.html,
    endpoint: flags.endpoint,
    seconds: wholeNumber('--seconds', flags.seconds ?? '60', 86_400),
    rate: wholeNumber('--rate', flags.rate ?? '200', 100_000),
  }
}

const flagNames = [
  ...['all', 'seed', 'arm', 'set', 'json', 'html', 'endpoint', 'seconds', 'rate'],
  ...['csv', 'command', 'language', 'times', 'minutes', 'ramp', 'against', 'help', 'version'],
].map((name) => `--${name}`)

function explained(message: string, args: readonly string[]): string {
  const words = /^Unknown (?:argument|command)s?: (.*)$/.exec(message)?.[1]
  if (words === undefined) return message.charAt(0).toLowerCase() + message.slice(1)
  const word = words.split(', ').find((one) => one !== '') ?? ''
  if (!args.some((arg) => arg.startsWith('-') && arg.replace(/^--?/, '').replace(/=.*/, '') === word)) {
    if (labs.some(({ name }) => name === word)) return `${word} is a lab; run it with sixtables-lab run ${word}`
    return `there is no command ${word}; ${advice(word, ['list', 'settings', 'run', 'replay', 'challenge', 'start', 'judge', 'grade'])}`
  }
  return `there is no flag --${word}; ${advice(`--${word}`, flagNames)}`
}

function version(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}
