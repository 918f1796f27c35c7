/**
 * The classes of differences that `npm run compare` knows, on their page; GOLDEN=rewrite writes the table anew. Needs
 * nothing of Google's.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { classes } from './classes/index.ts'
import { withClassTable } from './page.ts'

const page = new URL('../../docs/reference/differences.md', import.meta.url)

test('golden: the page of differences has the classes of the comparison', () => {
  const text = readFileSync(page, 'utf8')
  const wanted = withClassTable(text)
  if (process.env['GOLDEN'] === 'rewrite') writeFileSync(page, wanted)
  else expect(text).toBe(wanted)
})

test('each class has a name of its own, and says what an emulator does', () => {
  expect(new Set(classes.map(({ name }) => name)).size).toBe(classes.length)
  for (const { name, legacy, firestore } of classes) expect(legacy ?? firestore, name).toBeDefined()
})
