/**
 * The words that may continue a command line, for the scripts of completion.ts.
 *
 *   sixtables --complete <shell> sixtables inspect ta       → table, with its description for zsh and fish
 *
 * They are from the registry. The parser's own completion fails below `inspect`, `ids` and `indexes` (measured, yargs 18.2), and does not
 * know the values of flags, which commands check themselves.
 */
import type { Command, Flag, Program } from './command.ts'

export const completeRequest = '--complete'

interface Word {
  readonly word: string
  readonly describe: string
}

/** @param args - the shell, then the words of the line, from the program to the incomplete last one */
export function complete([shell = 'bash', ...line]: readonly string[], program: Program): readonly string[] {
  const typed = line.at(-1) ?? ''
  const found = wordsFor(line.slice(1, -1), typed, program).filter(({ word }) => word.startsWith(typed))
  return found.map(({ word, describe }) => {
    if (shell === 'zsh') return `${word.replaceAll(':', '\\:')}:${describe}`
    return shell === 'fish' ? `${word}\t${describe}` : word
  })
}

function wordsFor(before: readonly string[], typed: string, program: Program): readonly Word[] {
  let command: Command | undefined
  let below: readonly Command[] | undefined = program.commands
  for (const word of before) {
    if (word.startsWith('-')) continue
    const next: Command | undefined = below?.find(({ name }) => name === word)
    if (next === undefined) continue
    command = next
    below = next.commands
  }
  const flags = (command ?? program.defaultCommand).flags ?? []
  const last = before.at(-1) ?? ''
  const asked = flags.find(({ name, type }) => last === `--${name}` && type !== 'boolean')
  if (asked !== undefined) return (asked.choices ?? []).map((word) => ({ word, describe: asked.describe }))
  if (typed.startsWith('-')) return flags.filter(isShown).flatMap(flagWords)
  return (below ?? []).filter(isShown).map(({ name, describe }) => ({ word: name, describe }))
}

function flagWords({ name, type, describe, default: byDefault }: Flag): readonly Word[] {
  const word = { word: `--${name}`, describe }
  return type === 'boolean' && byDefault?.startsWith('true') === true
    ? [word, { word: `--no-${name}`, describe: `Not: ${describe}` }]
    : [word]
}

function isShown({ hidden }: Command | Flag): boolean {
  return hidden !== true
}
