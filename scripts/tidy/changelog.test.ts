/** CHANGELOG.md is the result of the change notes; GOLDEN=rewrite writes it again. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { changelogOf, changelogPath } from './changelog.ts'
import { readRepository } from './repository.ts'

const file = fileURLToPath(new URL(`../../${changelogPath}`, import.meta.url))

test('golden: the changelog is what the change notes make', () => {
  const wanted = changelogOf(readRepository())
  if (process.env['GOLDEN'] === 'rewrite') writeFileSync(file, wanted)
  else expect(readFileSync(file, 'utf8'), '`npm run golden` writes it anew').toBe(wanted)
})

const note = (head: string, text: string) => [{ path: '.changeset/a.md', text: `---\n${head}\n---\n\n${text}\n` }]

test('a note stands under its largest kind of change, with its packages', () => {
  expect(changelogOf(note('"@sixtables/engine": patch\n"@sixtables/gateway": minor', 'One.\n\nTwo.'))).toBe(
    '# Changelog\n\n## Not released yet\n\n### New and changed\n\n- engine, gateway:\n  One.\n\n  Two.\n',
  )
})

test('a note without text, or with an unknown kind of change, is refused by its path', () => {
  expect(() => changelogOf(note('"@sixtables/engine": patch', ''))).toThrow('.changeset/a.md is no change note')
  expect(() => changelogOf(note('"@sixtables/engine": huge', 'One.'))).toThrow('.changeset/a.md: a line of the head')
})
