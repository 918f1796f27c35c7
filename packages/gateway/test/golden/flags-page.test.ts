/**
 * docs/reference/flags.md lists the flags from the same data as the parser; GOLDEN=rewrite writes its tables anew.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { flagsOfOthers } from '../../src/cli/flags-of-others.ts'
import { startFlags } from '../../src/cli/start-flags.ts'
import { targetFlags } from '../../src/cli/target-flags.ts'

const page = new URL('../../../../docs/reference/flags.md', import.meta.url)

const shownFlags = startFlags.filter(({ hidden }) => hidden !== true)

interface Row {
  readonly name: string
  readonly describe: string
  readonly choices?: readonly string[]
  readonly default?: string
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(({ name, describe, choices, default: byDefault }) => {
    const what = choices === undefined ? describe : `${describe} (${choices.map((c) => `\`${c}\``).join(', ')})`
    return `| \`--${name}\` | ${what} | ${byDefault ?? ''} |`
  })
  return ['| flag | effect | default |', '| --- | --- | --- |', ...lines].join('\n')
}

const tables: Readonly<Record<string, string>> = {
  start: [...new Set(shownFlags.map((flag) => flag.group))]
    .map((group) => `### ${group}\n\n${table(shownFlags.filter((flag) => flag.group === group))}`)
    .join('\n\n'),
  others: [
    '| flag | here |',
    '| --- | --- |',
    ...flagsOfOthers.map(({ name, is, words }) => {
      return `| \`--${name}\` | ${is === 'same' ? words : is === 'ignored' ? `accepted, and changes nothing: ${words}` : `refused: it ${words}`} |`
    }),
  ].join('\n'),
  target: table(targetFlags),
}

test('golden: the page of flags is what the parser knows', () => {
  const text = readFileSync(page, 'utf8')
  const wanted = text.replace(
    /(<!-- from the code: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_all, begin: string, name: string, end: string) => `${begin}\n${tables[name]}\n\n${end}`,
  )
  for (const name of Object.keys(tables)) expect(text).toContain(`<!-- from the code: ${name} -->`)
  if (process.env['GOLDEN'] === 'rewrite') writeFileSync(page, wanted)
  else expect(text).toBe(wanted)
})
