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
  const asked = path.at(-1) ?? program.defaultCommand
  let chosen: Parsed | undefined
  let text = ''
  const parser = addCommands(yargs(), program, (parsed) => {
    chosen = parsed
  })
  await parser
    .scriptName('sixtables')
    .usage('$0 <command>\n\nA Google Cloud Datastore emulator on six Bigtable-style tables.')
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
    .parseAsync(argumentsFor(args, path, program), {}, (_error, _flags, output) => {
      text = output
    })
  // The parser would wrap the examples, and put their effects on the same lines.
  const examples = text === version ? '' : examplesInHelp(asked)
  if (text !== '') return { text: examples === '' ? text : `${text}\n\n${examples}` }
  if (chosen === undefined) throw new UsageError('no command was given; see sixtables --help')
  return chosen
}

/**
 * Removes the name of the default command, unless help is asked for: yargs makes the help of every named command, printed or not
 * (measured: 15 ms of a start of 150). The name stays before a word that is another command's, as in `start export`, because the parser
 * would run that command instead.
 */
function argumentsFor(
  args: readonly string[],
  path: readonly Command[],
  { commands, defaultCommand }: Program,
): string[] {
  const named = path.length === 1 && path[0] === defaultCommand && args[0] === defaultCommand.name
  const [, ...behind] = args
  const keepsName = behind.some((arg) => /^(--help|-h)(=|$)/.test(arg) || commands.some(({ name }) => name === arg))
  return named && !keepsName ? behind : [...args]
}

/** The commands of a level; the top level also has the default one. */
type ProgramPart = Pick<Program, 'commands'> & Partial<Program>

type Choose = (parsed: Parsed) => void

function addCommands(y: Argv, { commands, defaultCommand }: ProgramPart, choose: Choose): Argv {
  for (const command of commands) {
    const words = command === defaultCommand ? [usageOf(command), '$0'] : usageOf(command)
    const describe = command.hidden === true ? false : command.describe
    y.command(
      words,
      describe as string,
      (z) => addOne(z, command, choose),
      (flags) => {
        if (command.run !== undefined) choose({ command, run: command.run, flags })
      },
    )
  }
  return y
}

function addOne(y: Argv, command: Command, choose: Choose): Argv {
  for (const { name, describe, optional, list } of command.positionals ?? []) {
    y.positional(name, {
      type: 'string',
      describe,
      demandOption: optional !== true,
      ...(list === true ? { array: true } : {}),
    })
  }
  for (const flag of command.flags ?? []) {
    const choices = flag.choices === undefined ? '' : ` (${flag.choices.join(', ')})`
    y.option(flag.name, {
      type: flag.type === 'list' ? 'array' : flag.type,
      ...(flag.type === 'boolean' ? {} : { string: true }),
      ...(flag.alias === undefined ? {} : { alias: flag.alias }),
      ...(flag.hidden === true ? { hidden: true } : { describe: flag.describe + choices, group: `${flag.group}:` }),
      ...(flag.default === undefined ? {} : { defaultDescription: flag.default }),
    })
  }
  if (command.commands !== undefined) {
    const names = command.commands.map(({ name }) => name)
    addCommands(y, { commands: command.commands }, choose).demandCommand(
      1,
      `${command.name} wants one of: ${names.join(', ')}`,
    )
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
