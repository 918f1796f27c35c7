/**
 * A command of the command line, as data. One list of these (registry.ts) is used by the parser, the help, "did you mean", the
 * completion of shells and docs/reference/cli.md, so that they all have the same commands.
 *
 *   commands/watch-commands.ts  ─▶  { name: 'check', describe, flags, examples, run: imports ./check.ts, then runs it }
 *
 * Only `run` imports the code of a command, so that help and mistakes are answered without loading the engine. A command either runs or has
 * commands below it. `start` also runs when no command is named.
 */

/** Parsed flags and positionals by name. A repeated flag is an array, of which most commands use the last value. */
export type Flags = Readonly<Record<string, unknown>>

export interface Terminal {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
}

/** A command's access to the outside world, passed in so that a test can run one in its own process. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The working folder: relative paths and `.sixtables/` are below it. */
  readonly cwd: string
  /** Writes one line of the answer. */
  out(line: string): void
  /** Writes one line about the run: notes, log lines, the reason of a failure. */
  err(line: string): void
  /** Calls `stop` at each SIGINT and SIGTERM until the returned function is called. */
  onSignal(stop: (signal: NodeJS.Signals) => void): () => void
  /** Calls `fault` with each uncaught error, until the returned function is called. */
  onFault(fault: (error: unknown) => void): () => void
  /** All of stdin as text; waits for its end. */
  readIn(): Promise<string>
  /** Asks the user at the terminal; resolves with the typed line, or an empty text after Ctrl-C or Ctrl-D. Absent without a terminal. */
  readonly ask?: ((question: string) => Promise<string>) | undefined
  /** The user's terminal; absent if stdin or stdout is none. */
  readonly terminal?: Terminal | undefined
  now(): number
  exit(code: number): void
}

export type Run = (flags: Flags, io: Io) => Promise<number>

export interface Flag {
  /** Without dashes: `data-dir`. */
  readonly name: string
  /** Values are texts, even if they look like numbers; a `list` may be repeated. */
  readonly type: 'string' | 'boolean' | 'list'
  readonly describe: string
  /** The default in the help; the command itself applies it. */
  readonly default?: string
  /** The choices in the help; the command itself checks them. */
  readonly choices?: readonly string[]
  /** The heading above it in help and reference. */
  readonly group: string
  readonly alias?: string
  /** Accepted, but neither shown nor suggested. */
  readonly hidden?: true
  /** Makes the flag an error, with this text about its replacement after its name. */
  readonly refused?: string
  /** Flags of other commands with the same meaning, which users may try; each with a function that converts its value. */
  readonly insteadOf?: Readonly<Record<string, (value: string) => string>>
}

export interface Positional {
  readonly name: string
  readonly describe: string
  readonly optional?: true
  /** One or more values; only for the last positional. */
  readonly list?: true
  /** A folder that is created if necessary: a new one must not have the name of a flag or a command (main.ts). */
  readonly newFolder?: true
}

export interface Command {
  readonly name: string
  readonly describe: string
  readonly positionals?: readonly Positional[]
  readonly flags?: readonly Flag[]
  /** Command lines with `$0` for the program, and their effects. */
  readonly examples?: readonly (readonly [line: string, explanation: string])[]
  /** Message for a missing positional; default: a hint to the help. */
  readonly whenMissing?: string
  /** Message for surplus positionals; default: their names. */
  readonly whenSurplus?: string
  /** Further paragraphs of the reference page, in Markdown. */
  readonly notes?: readonly string[]
  /** Works, but is not shown: names of other emulators. */
  readonly hidden?: true
  readonly run?: Run
  readonly commands?: readonly Command[]
}

export interface Program {
  /** In the order of help and reference. */
  readonly commands: readonly Command[]
  readonly defaultCommand: Command
}

/** Examples in the help: each command alone on a line, ready to copy, below a comment with its effect. */
export function examplesInHelp({ examples = [] }: Command): string {
  const blocks = examples.map(([line, explanation]) => `  # ${explanation}\n  ${line.replaceAll('$0', 'sixtables')}`)
  return blocks.length === 0 ? '' : `Examples:\n${blocks.join('\n\n')}`
}

/** `<dir>`, `[key]`, `<keys..>`: positionals in the notation of parser and help. */
export function usageOf({ name, positionals = [] }: Command): string {
  const words = positionals.map(({ name: positional, optional, list }) => {
    const text = list === true ? `${positional}..` : positional
    return optional === true ? `[${text}]` : `<${text}>`
  })
  return [name, ...words].join(' ')
}

const types: Readonly<Record<string, Pick<Flag, 'type'>>> = {
  text: { type: 'string' },
  list: { type: 'list' },
  switch: { type: 'boolean' },
}

/**
 * Flags as a table, in which a heading begins a group and each other line is a flag:
 *
 *   Storage
 *     port -p    | text          | Port for gRPC and HTTP; 0 for any free port                   | 8081
 *     testing    | switch        | Data in memory, strong consistency, no files
 *     durability | process power | Failures that an acknowledged write survives: a killed process, … | process
 *
 * The columns are name and letter, type, purpose, and the default in words. A type is `text`, `list` (a text that may be repeated), `switch`,
 * or the choices of a text.
 */
export function flagTable(table: string): readonly Flag[] {
  let group = ''
  return table.split('\n').flatMap((line): readonly Flag[] => {
    const [names = '', type, describe = '', byDefault] = line.trim().split(/ *\| /)
    if (type === undefined) {
      group = names || group
      return []
    }
    const [name = '', alias] = names.split(' -')
    const typed = types[type] ?? { type: 'string', choices: type.split(' ') }
    const others = {
      ...(byDefault === undefined ? {} : { default: byDefault }),
      ...(alias === undefined ? {} : { alias }),
    }
    return [{ name, ...typed, describe, group, ...others }]
  })
}
