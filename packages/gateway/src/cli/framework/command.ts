/**
 * A command of the command line, as data. One list of these (registry.ts) feeds the parser, the help, "did you
 * mean", the completion of shells and docs/reference/cli.md, so that none of them can know another set of commands.
 *
 *   commands/check/command.ts  ─▶  { name, describe, flags, examples, run: imports ./check.ts, then runs it }
 *
 * C1  A command's own code is imported by `run` alone: help and mistakes are answered before any engine is loaded.
 * C2  A command either runs or has commands below it; `start` alone also runs when no command is named.
 */
import type { Io } from './io.ts'

/** Parsed flags and positionals by name; a repeated flag is an array, of which the last value counts. */
export type Flags = Readonly<Record<string, unknown>>

/** Resolves with the exit code (errors.ts). */
export type Run = (flags: Flags, io: Io) => Promise<number>

export interface Flag {
  /** Without dashes: `data-dir`. */
  readonly name: string
  /** Values are texts, also those that look like numbers; a `list` may be given several times. */
  readonly type: 'string' | 'boolean' | 'list'
  /** Its purpose, in one line. */
  readonly describe: string
  /** Shown as the default; the command settles the value itself. */
  readonly default?: string
  /** Shown; the command checks them itself. */
  readonly choices?: readonly string[]
  /** Heading under which help and reference list it. */
  readonly group: string
  /** One letter. */
  readonly alias?: string
  /** Accepted, but neither in the help nor suggested. */
  readonly hidden?: true
  /** Known and refused, with these words behind its name: what does the same. */
  readonly refused?: string
  /** Names of flags that other commands have for the same, which are given by mistake; each with the value as it is here. */
  readonly insteadOf?: Readonly<Record<string, (value: string) => string>>
}

export interface Positional {
  readonly name: string
  readonly describe: string
  readonly optional?: true
  /** One or more; only the last positional. */
  readonly list?: true
  /** A folder, made when it is not there: new ones are not to be named like a flag or a command (new-folder.ts). */
  readonly newFolder?: true
}

export interface Command {
  readonly name: string
  readonly describe: string
  readonly positionals?: readonly Positional[]
  readonly flags?: readonly Flag[]
  /** Command lines with `$0` for the program, and what each does. */
  readonly examples?: readonly (readonly [line: string, explanation: string])[]
  /** Said when a positional is missing; else it is pointed to the help. */
  readonly whenMissing?: string
  /** Said when there are more positionals than it takes; else they are named. */
  readonly whenSurplus?: string
  /** More for the reference page: paragraphs in Markdown. */
  readonly notes?: readonly string[]
  /** Works, but is not shown: names that other emulators know. */
  readonly hidden?: true
  readonly run?: Run
  readonly commands?: readonly Command[]
}

/** A command line as a whole. */
export interface Program {
  /** In the order in which help and reference show them. */
  readonly commands: readonly Command[]
  /** The one of them that runs when none is named. */
  readonly defaultCommand: Command
}

/** Examples as help shows them: each command whole on a line of its own, to be copied, below a comment with its effect. */
export function examplesInHelp({ examples = [] }: Command): string {
  const blocks = examples.map(([line, explanation]) => `  # ${explanation}\n  ${line.replaceAll('$0', 'sixtables')}`)
  return blocks.length === 0 ? '' : `Examples:\n${blocks.join('\n\n')}`
}

/** `<dir>`, `[key]`, `<keys..>`: positionals as the parser and the help write them. */
export function usageOf({ name, positionals = [] }: Command): string {
  const words = positionals.map(({ name: positional, optional, list }) => {
    const text = list === true ? `${positional}..` : positional
    return optional === true ? `[${text}]` : `<${text}>`
  })
  return [name, ...words].join(' ')
}
