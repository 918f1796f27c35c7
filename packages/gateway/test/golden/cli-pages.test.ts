/**
 * docs/reference/cli.md and flags.md have commands, flags and exit codes from the same data as the parser; GOLDEN=rewrite
 * writes them anew.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { flagsOfOthers, startFlags } from '../../src/cli/commands/start/start-flags.ts'
import { type Command, type Flag, usageOf } from '../../src/cli/framework/command.ts'
import { exitCodes, exitCodesInWords } from '../../src/cli/framework/errors.ts'
import { commands } from '../../src/cli/registry.ts'
import { targetFlags } from '../../src/cli/target/target-flags.ts'

const shownFlags = startFlags.filter(({ hidden }) => hidden !== true)
const common = new Set<Flag>(targetFlags)

function flagTable(flags: readonly Flag[]): string {
  const lines = flags.map(({ name, alias, describe, choices, default: byDefault }) => {
    const what = choices === undefined ? describe : `${describe} (${choices.map((c) => `\`${c}\``).join(', ')})`
    const names = alias === undefined ? `\`--${name}\`` : `\`--${name}\`, \`-${alias}\``
    return `| ${names} | ${plain(what)} | ${byDefault ?? ''} |`
  })
  return ['| flag | effect | default |', '| --- | --- | --- |', ...lines].join('\n')
}

/** Underscores that Markdown would take for bold, bars for columns. */
function plain(text: string): string {
  return text.replaceAll('__', '\\_\\_').replaceAll('|', '\\|')
}

const meanings = { same: '', ignored: 'accepted and ignored: ', refused: 'refused: it ' } as const

/** A chapter for each command, and one for those below it. */
function chapters(list: readonly Command[], above: readonly string[]): readonly string[] {
  return list
    .filter(({ hidden }) => hidden !== true)
    .flatMap((command) => {
      const own = command.flags?.filter((flag) => flag.hidden !== true && !common.has(flag)) ?? []
      const shared = command.flags?.filter((flag) => common.has(flag)).map(({ name }) => `\`--${name}\``) ?? []
      const words = ['sixtables', ...above, usageOf(command)].join(' ')
      const parts = [`${'#'.repeat(above.length + 2)} \`${words}\``, `${plain(command.describe)}.`]
      const positionals = command.positionals?.map(({ name, describe }) => `- \`${name}\`: ${plain(describe)}`) ?? []
      if (positionals.length > 0) parts.push(positionals.join('\n'))
      if (command.name === 'start') parts.push('Its flags are on [a page of their own](flags.md).')
      else if (own.length > 0) parts.push(flagTable(own))
      if (shared.length > 0) parts.push(`${own.length > 0 ? 'And' : 'Flags'}, as above: ${shared.join(', ')}.`)
      const examples = (command.examples ?? []).map(([line, why]) => `${line.replaceAll('$0', 'sixtables')}   # ${why}`)
      if (examples.length > 0) parts.push(`\`\`\`sh\n${examples.join('\n')}\n\`\`\``)
      parts.push(...(command.notes ?? []))
      return [...parts, ...chapters(command.commands ?? [], [...above, command.name])]
    })
}

const parts: Readonly<Record<string, string>> = {
  start: [...new Set(shownFlags.map((flag) => flag.group))]
    .map((group) => `### ${group}\n\n${flagTable(shownFlags.filter((flag) => flag.group === group))}`)
    .join('\n\n'),
  others: [
    '| flag | here |',
    '| --- | --- |',
    ...flagsOfOthers.map(
      ({ name, group, describe }) =>
        `| \`--${name}\` | ${meanings[group as keyof typeof meanings]}${plain(describe)} |`,
    ),
  ].join('\n'),
  codes: [
    '| code | meaning |',
    '| --- | --- |',
    ...Object.entries(exitCodes).map(
      ([name, code]) => `| ${code} | ${exitCodesInWords[name as keyof typeof exitCodes]} |`,
    ),
  ].join('\n'),
  common: flagTable(targetFlags),
  commands: chapters(commands, []).join('\n\n'),
}

const pages: readonly (readonly [name: string, parts: readonly string[]])[] = [
  ['flags.md', ['start', 'others', 'codes']],
  ['cli.md', ['common', 'codes', 'commands']],
]

test.each(pages)('golden: %s is what the parser knows', (name, wantedParts) => {
  const page = new URL(`../../../../docs/reference/${name}`, import.meta.url)
  const text = readFileSync(page, 'utf8')
  for (const part of wantedParts) expect(text).toContain(`<!-- from the code: ${part} -->`)
  const wanted = text.replace(
    /(<!-- from the code: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_all, begin: string, part: string, end: string) => `${begin}\n${parts[part]}\n\n${end}`,
  )
  if (process.env['GOLDEN'] === 'rewrite') writeFileSync(page, wanted)
  else expect(text).toBe(wanted)
})
