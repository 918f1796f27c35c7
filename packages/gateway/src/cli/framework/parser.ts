/** The registry in the form of yargs, which parses flags and writes help. */
import yargs, { type Argv } from 'yargs'
import { type Command, examplesInHelp, type Flags, type Program, type Run, usageOf } from './command.ts'
import { UsageError } from './errors.ts'
import { readWords } from './words.ts'

export interface Parsed {
  readonly command: Command
  readonly run: Run
  readonly flags: Flags
}

export type Answer = Parsed | { readonly text: string }

export async function parse(words: readonly string[], program: Program, version: string): Promise<Answer> {
  const { path, args } = readWords(words, program)
  const command = path.at(-1) ?? program.defaultCommand
  let flags: Flags | undefined
  let text = ''
  const parser = parserOf(path, program, (parsed) => {
    flags = parsed
  })
  await parser
    .help()
    .alias('help', 'h')
    .version(version)
    .locale('en')
    .wrap(Math.min(process.stdout.columns ?? 100, 100))
    .parserConfiguration({ 'greedy-arrays': false, 'camel-case-expansion': false })
    .strict()
    .exitProcess(false)
    .fail((message, error) => {
      // yargs reports a mistake as a message, or as an error of its own class.
      if (error !== undefined && error.name !== 'YError') throw error
      throw new UsageError(explain(message ?? error.message, path))
    })
    .parseAsync([...args], {}, (_error, _flags, output) => {
      text = output
    })
  // The parser would wrap the examples, and put their effects on the same lines.
  const examples = text === version ? '' : examplesInHelp(command)
  if (text !== '') return { text: examples === '' ? text : `${text}\n\n${examples}` }
  const { run, commands = [] } = command
  if (run !== undefined && flags !== undefined) return { command, run, flags }
  throw new UsageError(`${command.name} wants one of: ${commands.map(({ name }) => name).join(', ')}`)
}

/**
 * A parser with the commands that its help lists: those of the program, or below a command. For a command that runs it has this one alone,
 * as yargs makes the help of every one, printed or not (measured: 15 ms of a start of 150).
 */
function parserOf(path: readonly Command[], { commands, defaultCommand }: Program, choose: (flags: Flags) => void) {
  const command = path.at(-1)
  const above = command?.run === undefined ? path : path.slice(0, -1)
  const parser = yargs().scriptName(['sixtables', ...above.map(({ name }) => name)].join(' '))
  if (command === undefined) {
    parser.usage('$0 <command>\n\nA Google Cloud Datastore emulator on six Bigtable-style tables.')
  } else if (command.run === undefined) parser.usage(`$0\n\n${command.describe}`)
  for (const one of command?.run === undefined ? (command?.commands ?? commands) : [command]) {
    const names = command === undefined && one === defaultCommand ? [usageOf(one), '$0'] : usageOf(one)
    const describe = one.hidden === true ? false : one.describe
    parser.command(names, describe as string, (y) => addFlags(y, one), choose)
  }
  return parser
}

function addFlags(y: Argv, { positionals = [], flags = [] }: Command): Argv {
  for (const { name, describe, optional, list } of positionals) {
    y.positional(name, {
      type: 'string',
      describe,
      demandOption: optional !== true,
      ...(list === true ? { array: true } : {}),
    })
  }
  for (const flag of flags) {
    const choices = flag.choices === undefined ? '' : ` (${flag.choices.join(', ')})`
    y.option(flag.name, {
      type: flag.type === 'list' ? 'array' : flag.type,
      ...(flag.type === 'boolean' ? {} : { string: true }),
      ...(flag.alias === undefined ? {} : { alias: flag.alias }),
      ...(flag.hidden === true ? { hidden: true } : { describe: flag.describe + choices, group: `${flag.group}:` }),
      ...(flag.default === undefined ? {} : { defaultDescription: flag.default }),
    })
  }
  return y
}

function explain(message: string, path: readonly Command[]): string {
  const words = ['sixtables', ...path.map(({ name }) => name)].join(' ')
  if (message.startsWith('Not enough non-option arguments')) {
    const command = path.at(-1)
    const whole = ['sixtables', ...path.slice(0, -1).map(({ name }) => name), command && usageOf(command)].join(' ')
    return command?.whenMissing ?? `something is missing: ${whole}; see ${words} --help`
  }
  const unknown = /^Unknown (?:arguments?|commands?): (.*)$/.exec(message)?.[1]
  if (unknown !== undefined) {
    return path.at(-1)?.whenSurplus ?? `${words} does not know what to do with ${unknown}; see ${words} --help`
  }
  return message.charAt(0).toLowerCase() + message.slice(1)
}
