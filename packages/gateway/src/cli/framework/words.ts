/**
 * Reads the words of a command line: finds the command, and checks that each flag is known. A mistake is reported with the word as typed and
 * the nearest valid one: `--tesing` is unknown, did you mean `--testing`?
 *
 * The parser, yargs, runs after this. It would report an unknown flag in several spellings, and check nothing if help is asked for.
 */
import { nearest } from '@sixtables/engine/did-you-mean'
import type { Command, Flag, Program } from './command.ts'
import { UsageError } from './errors.ts'

const commonFlags: readonly Flag[] = [
  { name: 'help', type: 'boolean', alias: 'h', describe: 'Show help', group: 'Options' },
  { name: 'version', type: 'boolean', describe: 'Show version number', group: 'Options' },
]

/** Makes `--store-on-disk=true` of `--store_on_disk=true`. */
export function plainFlag(arg: string): string {
  return arg.replace(/^--[^=]*/, (name) => name.replaceAll('_', '-'))
}

/** Stands for a lone hyphen (standard input) in the parser's arguments, since yargs 18.2 makes an empty word of a hyphen. */
export const stdinWord = '/dev/stdin'

export interface Words {
  /** The command after its parents, `[inspect, rows]`; empty if none was named. */
  readonly path: readonly Command[]
  /** The words for the parser, without the names of parents: `--store-on-disk=true` for gcloud's `--store_on_disk=True`. */
  readonly args: readonly string[]
}

/**
 * Finds the command and checks each flag.
 *
 * @throws UsageError for an unknown command, an unknown or refused flag, a switch with a value, and any other flag without one
 */
export function readWords(args: readonly string[], program: Program): Words {
  const named = pathOf(args, program)
  const path = [...named.values()]
  const flags = flagsOf(path.at(-1) ?? program.defaultCommand)
  const read: string[] = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') return { path, args: [...read, ...args.slice(at)] }
    if (named.get(at)?.commands !== undefined) continue
    if (!arg.startsWith('--')) {
      refuseLetters(arg, flags, path)
      read.push(arg === '-' ? stdinWord : arg)
      continue
    }
    const isSwitch = flagNamed(arg, path.at(-1), program)?.type === 'boolean'
    const next = args[at + 1]
    // In `--testing true` the second word is the value of the switch, not a positional.
    const hasValue = isSwitch && !arg.includes('=') && next !== undefined && isTruth(next)
    read.push(readFlag(hasValue ? `${arg}=${next}` : arg, next, flags, path))
    if (hasValue) at++
    // yargs would ignore a flag without its value, or use an empty text.
    else if (!isSwitch && !arg.includes('=') && (next === undefined || next.startsWith('--'))) {
      throw new UsageError(`${arg} needs a value`)
    }
  }
  return { path, args: read }
}

/** yargs would read each letter of `-1h` as a flag, the last one as a wish for help. */
function refuseLetters(arg: string, flags: readonly Flag[], path: readonly Command[]): void {
  if (!/^-./.test(arg) || !Number.isNaN(Number(arg)) || flags.some(({ alias }) => alias === arg[1])) return
  throw new UsageError(`there is no flag ${arg}${whereOf(path)}; see ${inWords(['sixtables', ...path], '--help')}`)
}

function isTruth(word: string): boolean {
  return /^(true|false)$/i.test(word)
}

function readFlag(arg: string, next: string | undefined, flags: readonly Flag[], path: readonly Command[]): string {
  const { name, value } = split(arg)
  const flag = flags.find((one) => one.name === name || (name === `no-${one.name}` && one.type === 'boolean'))
  if (flag === undefined) throw unknownFlag({ name, value: value ?? next }, flags, path)
  if (flag.refused !== undefined) throw new UsageError(`--${name} ${flag.refused}`)
  if (flag.type !== 'boolean' || value === undefined) return arg
  if (!isTruth(value)) throw new UsageError(`--${name} is true or false; got "${value}"`)
  return `--${name}=${value.toLowerCase()}`
}

/** The command after its parents, each at the place of its name. */
function pathOf(args: readonly string[], program: Program): ReadonlyMap<number, Command> {
  const path = new Map<number, Command>()
  let command: Command | undefined
  let choices: readonly Command[] | undefined = program.commands
  for (let at = 0; at < args.length && choices !== undefined; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') break
    if (arg.startsWith('-')) {
      const flag = flagNamed(arg, command, program)
      // The word after an unknown flag may be its value.
      if (flag === undefined) break
      if (takesNext(arg, flag, args[at + 1])) at++
      continue
    }
    command = choices.find(({ name }) => name === arg)
    if (command === undefined) throw unknownCommand(arg, choices, [...path.values()], program)
    path.set(at, command)
    choices = command.commands
  }
  return path
}

/** The flag of the command; it may precede the command's name. */
function flagNamed(arg: string, command: Command | undefined, { commands, defaultCommand }: Program): Flag | undefined {
  const { name } = split(arg)
  const isIt = (one: Flag): boolean =>
    arg.startsWith('--') ? one.name === name || name === `no-${one.name}` : one.alias === name
  return [...flagsOf(command ?? defaultCommand), ...allFlags(commands)].find(isIt)
}

function allFlags(list: readonly Command[]): readonly Flag[] {
  return list.flatMap((command) => [...(command.flags ?? []), ...allFlags(command.commands ?? [])])
}

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

/** A command, or a flag of the default command, with the word as its name. */
export function nameOf(word: string, { commands, defaultCommand }: Program): string | undefined {
  const isIt = ({ name, type, hidden }: Flag): boolean =>
    hidden !== true && (name === word || (type === 'boolean' && `no-${name}` === word))
  if (flagsOf(defaultCommand).some(isIt)) return `--${word}`
  return commands.some(({ name, hidden }) => name === word && hidden !== true) ? `sixtables ${word}` : undefined
}

/** Words of `sixtables-lab` that learners try here. */
const ofOtherCommand = /^(labs?|challenges?|courses?|judge|grade|replay)$/

function unknownCommand(
  word: string,
  choices: readonly Command[],
  path: readonly Command[],
  program: Program,
): UsageError {
  if (path.length === 0 && ofOtherCommand.test(word))
    return new UsageError(`there is no command ${word}; labs and challenges are another one: sixtables-lab --help`)
  const slip = path.length === 0 ? nameOf(word, program) : undefined
  if (slip !== undefined) return new UsageError(`there is no command ${word}; did you mean ${slip}?`)
  const near = nearest(
    word,
    choices.filter(({ hidden }) => hidden !== true).map(({ name }) => name),
  )
  if (near !== undefined) return new UsageError(`there is no command ${word}; did you mean ${near}?`)
  return new UsageError(`there is no command ${inWords(path, word)}; see ${inWords(['sixtables', ...path], '--help')}`)
}

function unknownFlag(
  { name, value }: ReturnType<typeof split>,
  flags: readonly Flag[],
  path: readonly Command[],
): UsageError {
  const where = whereOf(path)
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

function whereOf(path: readonly Command[]): string {
  return path.length === 0 ? '' : ` for ${inWords(path)}`
}

function inWords(path: readonly (Command | string)[], ...more: readonly string[]): string {
  return [...path.map((one) => (typeof one === 'string' ? one : one.name)), ...more].join(' ')
}
