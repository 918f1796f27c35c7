/** The bundle as it was built, which a clone runs outside node_modules, where Node warns of more. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const folder = new URL('../../dist/bundle/', import.meta.url)

test('nothing in it is deprecated by Node: a warning would stand in the picture of sixtables top', () => {
  const parts = readdirSync(folder).filter((name) => name.endsWith('.js'))
  const text = parts.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n')
  expect(/charm/i.test(text), "the terminal's library, which has such a call, is in it").toBe(true)
  expect(text.match(/.{0,60}\bnew Buffer\(.{0,20}/g)).toBeNull()
})
