/**
 * Reads the words of a command line: which command, and whether each flag is one that it knows. Done before the
 * parser, which names an unknown flag in several spellings and asks for help before it looks at the rest.
 *
 * W1  A mistake names the word as it was typed, and the nearest word that would do at that place.
 */

import { nearest } from '@sixtables/engine/nearest'
import type { Command, Flag, Program } from './command.ts'
import { UsageError } from './errors.ts'

/** Flags of every command. */
const commonFlags: readonly Flag[] = [
  { name: 'help', type: 'boolean', alias: 'h', describe: 'Show help', group: 'Options' },
  { name: 'version', type: 'boolean', describe: 'Show version number', group: 'Options' },
]

/** `--store_on_disk=true` and `--store-on-disk=true` are the same flag. */
export function plainFlag(arg: string): string {
  return arg.replace(/^--[^=]*/, (name) => name.replaceAll('_', '-'))
}

/** Placeholder for a lone hyphen (standard input) in the parser, which takes a hyphen for an empty word (yargs 18.2). */
export const stdinWord = '/dev/stdin'

export interface Words {
  /** The command and those it stands below, `[inspect, rows]`; empty when none was named. */
  readonly path: readonly Command[]
  /** The words as the parser reads them: gcloud writes `--store_on_disk=True`. */
  readonly args: readonly string[]
}

/**
 * Finds the command that is asked for and looks at each flag.
 *
 * @throws UsageError for a command or a flag that there is not or that is refused, for a switch with a value of its own, and
 *   for any other flag without one
 */
export function readWords(args: readonly string[], program: Program): Words {
  const path = pathOf(args, program)
  const flags = flagsOf(path.at(-1) ?? program.defaultCommand)
  const read: string[] = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') return { path, args: [...read, ...args.slice(at)] }
    if (!arg.startsWith('--')) {
      read.push(arg === '-' ? stdinWord : arg)
      continue
    }
    const isSwitch = flagNamed(arg, path.at(-1), program)?.type === 'boolean'
    const next = args[at + 1]
    // A switch may have its value behind it, where a word of that kind would be taken for something else.
    const hasValue = isSwitch && !arg.includes('=') && next !== undefined && isTruth(next)
    read.push(readFlag(hasValue ? `${arg}=${next}` : arg, next, flags, path))
    if (hasValue) at++
    // The parser would take the flag for one that was not given, or for an empty text.
    else if (!isSwitch && !arg.includes('=') && (next === undefined || next.startsWith('--'))) {
      throw new UsageError(`${arg} needs a value`)
    }
  }
  return { path, args: read }
}

function isTruth(word: string): boolean {
  return /^(true|false)$/i.test(word)
}

/** @param next - the word behind it */
function readFlag(arg: string, next: string | undefined, flags: readonly Flag[], path: readonly Command[]): string {
  const { name, value } = split(arg)
  const flag = flags.find((one) => one.name === name || (name === `no-${one.name}` && one.type === 'boolean'))
  if (flag === undefined) throw unknownFlag({ name, value: value ?? next }, flags, path)
  if (flag.refused !== undefined) throw new UsageError(`--${name} ${flag.refused}`)
  if (flag.type !== 'boolean' || value === undefined) return arg
  if (!isTruth(value)) throw new UsageError(`--${name} is true or false; got "${value}"`)
  return `--${name}=${value.toLowerCase()}`
}

/** The words that are no flags and no values of flags, as far as they name commands. */
function pathOf(args: readonly string[], program: Program): readonly Command[] {
  const path: Command[] = []
  let choices: readonly Command[] | undefined = program.commands
  for (let at = 0; at < args.length && choices !== undefined; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') break
    if (arg.startsWith('-')) {
      const flag = flagNamed(arg, path.at(-1), program)
      // After an unknown flag a word may be its value.
      if (flag === undefined) break
      if (takesNext(arg, flag, args[at + 1])) at++
      continue
    }
    const found: Command | undefined = choices.find(({ name }) => name === arg)
    if (found === undefined) throw unknownCommand(arg, choices, path, program)
    path.push(found)
    choices = found.commands
  }
  return path
}

/** The flag of the command; a flag may stand before the command that knows it. */
function flagNamed(arg: string, command: Command | undefined, { commands, defaultCommand }: Program): Flag | undefined {
  const { name } = split(arg)
  const isIt = (one: Flag): boolean =>
    arg.startsWith('--') ? one.name === name || name === `no-${one.name}` : one.alias === name
  return [...flagsOf(command ?? defaultCommand), ...allFlags(commands)].find(isIt)
}

function allFlags(list: readonly Command[]): readonly Flag[] {
  return list.flatMap((command) => [...(command.flags ?? []), ...allFlags(command.commands ?? [])])
}

/** Whether the word behind a flag is its value. */
function takesNext(arg: string, { type }: Flag, next: string | undefined): boolean {
  if (arg.includes('=') || next === undefined || next.startsWith('-')) return false
  return type === 'boolean' ? isTruth(next) : true
}

function flagsOf(command: Command): readonly Flag[] {
  return [...(command.flags ?? []), ...commonFlags]
}

function split(arg: string): { readonly name: string; readonly value: string | undefined } {
  const [, name = '', value] = /^--?([^=]*)(?:=(.*))?$/s.exec(arg) ?? []
  return { name, value }
}

/** A flag of the default command or a command, as it is typed, when the word is its name. */
export function nameOf(word: string, { commands, defaultCommand }: Program): string | undefined {
  const isIt = ({ name, type, hidden }: Flag): boolean =>
    hidden !== true && (name === word || (type === 'boolean' && `no-${name}` === word))
  if (flagsOf(defaultCommand).some(isIt)) return `--${word}`
  return commands.some(({ name, hidden }) => name === word && hidden !== true) ? `sixtables ${word}` : undefined
}

function unknownCommand(
  word: string,
  choices: readonly Command[],
  path: readonly Command[],
  program: Program,
): UsageError {
  if (word === 'lab' && path.length === 0) return new UsageError('there is no command lab; the labs are sixtables-lab')
  const slip = path.length === 0 ? nameOf(word, program) : undefined
  if (slip !== undefined) return new UsageError(`there is no command ${word}; did you mean ${slip}?`)
  const near = nearest(
    word,
    choices.filter(({ hidden }) => hidden !== true).map(({ name }) => name),
  )
  if (near !== undefined) return new UsageError(`there is no command ${word}; did you mean ${near}?`)
  return new UsageError(`there is no command ${inWords(path, word)}; see ${inWords(['sixtables', ...path], '--help')}`)
}

interface GivenFlag {
  readonly name: string
  readonly value: string | undefined
}

function unknownFlag({ name, value }: GivenFlag, flags: readonly Flag[], path: readonly Command[]): UsageError {
  const where = path.length === 0 ? '' : ` for ${inWords(path)}`
  const meant = flags.find(({ insteadOf }) => insteadOf?.[name] !== undefined)
  if (meant !== undefined) {
    const hasValue = value !== undefined && value !== '' && !value.startsWith('-')
    const instead = hasValue ? `--${meant.name} ${meant.insteadOf?.[name]?.(value)}` : `--${meant.name}`
    return new UsageError(`there is no flag --${name}${where}; did you mean ${instead}?`)
  }
  const words = flags
    .filter(({ hidden }) => hidden !== true)
    .flatMap((flag) => (flag.type === 'boolean' ? [flag.name, `no-${flag.name}`] : [flag.name]))
  const near = nearest(name, words)
  if (near !== undefined) return new UsageError(`there is no flag --${name}; did you mean --${near}?`)
  return new UsageError(`there is no flag --${name}${where}; see ${inWords(['sixtables', ...path], '--help')}`)
}

function inWords(path: readonly (Command | string)[], ...more: readonly string[]): string {
  return [...path.map((one) => (typeof one === 'string' ? one : one.name)), ...more].join(' ')
}
