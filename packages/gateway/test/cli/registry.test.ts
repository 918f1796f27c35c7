/** What holds for every command: help with examples that the parser takes and names that do not clash. */
import { readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Command } from '../../src/cli/framework/command.ts'
import { parse } from '../../src/cli/framework/parser.ts'
import { plainFlag } from '../../src/cli/framework/words.ts'
import { commands, program } from '../../src/cli/registry.ts'
import { sixtables } from '../support/cli.ts'

interface Named {
  readonly words: string
  readonly command: Command
}

function all(list: readonly Command[], above: readonly string[] = []): readonly Named[] {
  return list.flatMap((command) => {
    const path = [...above, command.name]
    return [{ words: path.join(' '), command }, ...all(command.commands ?? [], path)]
  })
}

const every = all(commands)
const runs = every.filter(({ command }) => command.run !== undefined)

/** What a shell hands to the program, for each time that it is named in a line: words without quotes, up to a pipe or the like. */
function shellWords(line: string): readonly (readonly string[])[] {
  return [...line.matchAll(/\$0((?:'[^']*'|"[^"]*"|[^|>&)'"])*)/g)].map(([, own = '']) =>
    [...own.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) => word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2')),
  )
}

test('a command runs or has commands below it', () => {
  for (const { words, command } of every) {
    expect((command.run === undefined) !== (command.commands === undefined), words).toBe(true)
  }
})

test('help and mistakes are answered without the engine: no file of the list imports it', () => {
  const seen = new Set<string>()
  const visit = (file: URL): void => {
    if (seen.has(file.href)) return
    seen.add(file.href)
    for (const [, names = '', from = ''] of readFileSync(file, 'utf8').matchAll(
      /^import (?!type )([^'"]*) from '([^']+)'/gm,
    )) {
      if (/^{(\s*type \w+( as \w+)?,?)*\s*}$/.test(names)) continue
      expect(from, file.href).not.toBe('@sixtables/engine')
      if (from.startsWith('.')) visit(new URL(from, file))
    }
  }
  visit(new URL('../../src/cli/main.ts', import.meta.url))
  expect(seen.size).toBeGreaterThan(15)
})

test('names are said once at each place', () => {
  const groups = [
    commands,
    ...every.flatMap(({ command }) => (command.commands === undefined ? [] : [command.commands])),
  ]
  for (const group of groups) {
    const names = group.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  }
  for (const { words, command } of every) {
    const names = [...(command.flags ?? []), ...(command.positionals ?? [])].map(({ name }) => name)
    expect(new Set(names).size, words).toBe(names.length)
  }
})

describe('help', () => {
  test.each(runs)('of $words shows its examples and flags', async ({ words, command }) => {
    const { code, out, err } = await sixtables([...words.split(' '), '--help'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(command.examples?.length ?? 0).toBeGreaterThan(0)
    for (const { name, hidden } of command.flags ?? []) {
      expect(out.includes(`--${name} `) || out.includes(`--${name}\n`), `--${name}`).toBe(hidden !== true)
    }
  })

  test.each(runs)('of $words has each example whole on one line at 80 columns', async ({ words, command }) => {
    const { columns } = process.stdout
    process.stdout.columns = 80
    onTestFinished(() => {
      process.stdout.columns = columns
    })
    const { out } = await sixtables([...words.split(' '), '--help'])
    const examples = (command.examples ?? []).map(
      ([line, why]) => `  # ${why}\n  ${line.replaceAll('$0', 'sixtables')}\n`,
    )
    expect(`${out}\n`.endsWith(`\n\nExamples:\n${examples.join('\n')}`), out).toBe(true)
  })

  test('of the program lists every command that is not hidden', async () => {
    const { out } = await sixtables(['--help'])
    for (const { name, hidden } of commands)
      expect(new RegExp(`^ +sixtables ${name}\\b`, 'm').test(out), name).toBe(hidden !== true)
  })
})

describe('examples', () => {
  const lines = runs
    .filter(({ command }) => command.hidden !== true)
    .flatMap(({ words, command }) => (command.examples ?? []).map(([line]) => ({ words, line })))
  test.each(lines)('$line is understood', async ({ words, line }) => {
    if (line !== '$0') expect(line).toContain(`$0 ${words}`)
    for (const given of shellWords(line)) {
      expect(await parse(given.map(plainFlag), program, '0.0.0'), given.join(' ')).toHaveProperty('run')
    }
  })
})

describe('an unknown flag is exit code 2', () => {
  test.each(runs)('of $words', async ({ words }) => {
    const { code, out, err } = await sixtables([...words.split(' '), '--no-such-thing'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toBe(`sixtables: there is no flag --no-such-thing for ${words}; see sixtables ${words} --help`)
  })
})
