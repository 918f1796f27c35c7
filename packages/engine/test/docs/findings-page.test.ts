/** docs/reference/findings.md lists remedies and labs from the code; GOLDEN=rewrite writes its table anew. */
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findingAdvice } from '../../src/observe/findings/finding-kinds.ts'

const page = new URL('../../../../docs/reference/findings.md', import.meta.url)

test('golden: the page of findings gives the remedies of the code, and says of each when it is told', () => {
  const text = readFileSync(page, 'utf8')
  const rows = Object.entries(findingAdvice).map(([kind, { remedy, lab }]) => `| ${kind} | ${remedy} | \`${lab}\` |`)
  const table = ['| finding | what to do | lab |', '| --- | --- | --- |', ...rows].join('\n')
  const wanted = text.replace(
    /(<!-- from the code: findings -->\n)[\s\S]*?(<!-- end -->)/,
    (_all, begin: string, end: string) => `${begin}\n${table}\n\n${end}`,
  )
  if (process.env['GOLDEN'] === 'rewrite') writeFileSync(page, wanted)
  expect(readFileSync(page, 'utf8')).toBe(wanted)
  for (const kind of Object.keys(findingAdvice)) expect(text.split(`| ${kind} |`)).toHaveLength(3)
})
