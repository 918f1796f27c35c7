/** docs/reference/errors.md lists the requests of the table of errors and our answers; GOLDEN=rewrite writes it anew. */
import { readFileSync, writeFileSync } from 'node:fs'
import { statusCodes } from '@sixtables/engine'
import { expect, test } from 'vitest'
import { sections } from '../contract/errors/sections.ts'

const page = new URL('../../../../docs/reference/errors.md', import.meta.url)

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('__', '\\_\\_').replaceAll('*', '\\*').replaceAll('<', '&lt;')
}

test('golden: the page of errors has the requests of the tests and our answers', () => {
  const tables = sections.map(([title, rows]) => {
    const lines = rows.map(({ method, input, firestore, ours, oursLegacy }) => {
      const code = ours?.code ?? firestore
      const legacy = oursLegacy === undefined || oursLegacy === code ? '' : oursLegacy
      return `| ${method} | ${cell(input)} | ${code} | ${legacy} |`
    })
    return [
      `### ${title}`,
      '',
      '| call | with | answer | in legacy mode |',
      '| --- | --- | --- | --- |',
      ...lines,
    ].join('\n')
  })
  const text = readFileSync(page, 'utf8')
  const wanted = text.replace(
    /(<!-- from the code: requests -->\n)[\s\S]*?(<!-- end -->)/,
    (_all, begin: string, end: string) => `${begin}\n${tables.join('\n\n')}\n\n${end}`,
  )
  if (process.env['GOLDEN'] === 'rewrite') writeFileSync(page, wanted)
  else expect(text).toBe(wanted)
})

test('the page of errors tells of every code that is answered', () => {
  const text = readFileSync(page, 'utf8')
  const elsewhere = ['UNKNOWN', 'PERMISSION_DENIED', 'OUT_OF_RANGE']
  for (const code of Object.keys(statusCodes)) if (!elsewhere.includes(code)) expect(text).toContain(code)
})
