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
import { nearest } from '@sixtables/engine/did-you-mean'
import yargs from 'yargs'
import { labs } from '../labs/catalogue.ts'
import type { InkLine } from '../report/ink.ts'
import { mostOf, settingNames, settings } from '../settings.ts'
import { challengeCommands } from './challenge.ts'
import { advice, UsageError } from './errors.ts'
import type { Choose } from './flags.ts'
import { type Io, processIo } from './io.ts'
import { replayCommand } from './replay.ts'
import { runCommand } from './run.ts'

export async function main(args: readonly string[], io: Io = processIo): Promise<number> {
  try {
    return await dispatch(args, io)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    io.err(`sixtables-lab: ${error.message}`)
    return 2
  }
}

async function dispatch(args: readonly string[], io: Io): Promise<number> {
  let command: Parameters<Choose>[0] | undefined
  let help = ''
  const print = (lines: readonly InkLine[]): number => {
    const write = io.ink()
    for (const line of lines) write(line)
    return 0
  }
  const choose: Choose = (chosen) => {
    command = chosen
  }
  const lists = yargs()
    .scriptName('sixtables-lab')
    .usage(
      '$0 <command>\n\nExperiments on the sixtables engine, on virtual time, each with an expectation that can fail.',
    )
    .command('list', 'List the labs and their arms', {}, () => choose(() => print(listLabs())))
    .command('settings', 'List the settings, with default, unit and source', {}, () =>
      choose(() => print(listSettings())),
    )
  await replayCommand(runCommand(lists, io, choose), io, choose)
    .command('challenge', 'Programs with a bad design: improve one, and have it judged', (y) =>
      challengeCommands(y, io, choose),
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

const flagNames = [
  ...['all', 'seed', 'arm', 'set', 'json', 'html', 'endpoint', 'seconds', 'rate'],
  ...['csv', 'command', 'language', 'times', 'minutes', 'ramp', 'against', 'help', 'version'],
].map((name) => `--${name}`)

const commands = ['list', 'settings', 'run', 'replay', 'challenge']
const challengeVerbs = ['list', 'start', 'judge', 'grade']

function explained(message: string, args: readonly string[]): string {
  const words = /^Unknown (?:argument|command)s?: (.*)$/.exec(message)?.[1]
  if (words === undefined) return message.charAt(0).toLowerCase() + message.slice(1)
  const [first = '', verb = ''] = args
  if (!commands.includes(first) && !first.startsWith('-')) {
    if (labs.some(({ name }) => name === first)) return `${first} is a lab; run it with sixtables-lab run ${first}`
    const meant = nearest(first, [...commands, ...challengeVerbs])
    const isMeant = meant !== undefined && !commands.includes(meant)
    return `there is no command ${first}; ${isMeant ? `did you mean challenge ${meant}?` : advice(first, commands)}`
  }
  const isVerb = first === 'challenge' && challengeVerbs.includes(verb)
  const own = first.startsWith('-') ? [] : isVerb ? [first, verb] : [first]
  const command = own.length === 0 ? 'a line without a command' : own.join(' ')
  const help = ['see sixtables-lab', ...own, '--help'].join(' ')
  const word = words.split(', ').find((one) => one !== '') ?? ''
  if (args.some((arg) => arg.startsWith('-') && arg.replace(/^--?/, '').replace(/=.*/, '') === word))
    return flagNames.includes(`--${word}`)
      ? `${command} has no flag --${word}; ${help}`
      : `there is no flag --${word}; ${advice(`--${word}`, flagNames)}`
  if (first === 'challenge' && !isVerb) return `there is no command challenge ${word}; ${advice(word, challengeVerbs)}`
  return `${command} takes no further argument ${word}; ${help}`
}

function version(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}

function listLabs(): InkLine[] {
  return labs.flatMap((lab) => [
    [{ text: lab.name, colour: 15 }, `   ${lab.title}`],
    ...lab.arms.map((arm): InkLine => [`    ${arm.name.padEnd(26)} ${arm.about}`]),
  ])
}

function listSettings(): InkLine[] {
  return settingNames.flatMap((name) => {
    const { value, unit, about, source = 'ours', least = 0 } = settings[name]
    const readers = labs.filter((lab) => lab.settings[name] !== undefined)
    const own = readers
      .filter((lab) => lab.settings[name] !== value)
      .map((lab) => `, ${lab.settings[name]} in ${lab.name}`)
    return [
      [{ text: name, colour: 15 }, ` = ${value} ${unit}${own.join('')}`],
      [`    ${about}; ${least} to ${mostOf(settings[name])}`],
      [{ text: `    ${source}`, colour: 244 }],
    ] satisfies InkLine[]
  })
}
