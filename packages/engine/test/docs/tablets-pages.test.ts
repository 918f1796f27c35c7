/**
 * docs/reference/tablets.md lists the settings from observe/tablets/defaults.ts, and docs/architecture/tablets.md shows what a run
 * prints; GOLDEN=rewrite writes both anew.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type TabletSettingName, tabletDefaults, tabletNotes } from '../../src/observe/tablets/defaults.ts'
import { entityRowKeyOf } from '../../src/tables/entities.ts'
import { keyOf } from '../property/entity-messages.ts'
import { drive } from '../tablets-world.ts'

const toDo = (id: number): string => entityRowKeyOf(keyOf([{ kind: 'ToDo', id: BigInt(id) }]))
const rising = (n: number): string => toDo(n + 1)
const scattered = (n: number): string => toDo(1 + Math.floor(((n * 0.6180339887498949) % 1) * 9e15))

function golden(path: string, name: string, content: string): void {
  const page = new URL(`../../../../docs/${path}`, import.meta.url)
  const text = readFileSync(page, 'utf8')
  const pattern = new RegExp(`(<!-- from the code: ${name} -->\\n)[\\s\\S]*?(<!-- end -->)`)
  expect(text).toMatch(pattern)
  const wanted = text.replace(pattern, (_all, begin: string, end: string) => `${begin}\n${content}\n\n${end}`)
  if (process.env['GOLDEN'] === 'rewrite') writeFileSync(page, wanted)
  expect(readFileSync(page, 'utf8')).toBe(wanted)
}

test('golden: the reference has every setting with its default, its unit and its source', () => {
  const rows = Object.entries(tabletNotes).map(([name, { what, unit, source }]) => {
    const value = tabletDefaults[name as TabletSettingName]
    const shown = typeof value === 'number' ? value.toLocaleString('en') : value ? 'yes' : 'no'
    return `| \`${name}\` | ${what} | ${shown} | ${unit} | ${source} |`
  })
  expect(Object.keys(tabletNotes).sort()).toEqual(Object.keys(tabletDefaults).sort())
  golden(
    'reference/tablets.md',
    'settings',
    ['| setting | meaning | default | unit | source |', '| --- | --- | --- | --- | --- |', ...rows].join('\n'),
  )
})

test('golden: the tour shows what scattered and rising keys make of the same load', () => {
  const lines = [
    ['scattered', scattered],
    ['rising', rising],
  ].map(([name, key]) => {
    const { tablets, busiestShare, of } = drive({
      seconds: 1_200,
      rate: () => 30_000,
      key: key as (n: number) => string,
    })
    const columns = [
      tablets,
      `${(busiestShare * 100).toFixed(0)} %`,
      of('split').length,
      of('move').length,
      of('split-refused').length,
    ]
    return `${String(name).padEnd(10)}${columns.map((column) => String(column).padStart(16)).join('')}`
  })
  const head = ['tablets', 'busiest has', 'splits', 'moves', 'refused splits'].map((word) => word.padStart(16)).join('')
  const refused = drive({ seconds: 300, rate: () => 6_000, key: rising }).of('split-refused')[0]?.words ?? ''
  const split = drive({ seconds: 300, rate: () => 6_000, key: scattered }).of('split')[0]?.words ?? ''
  golden('architecture/tablets.md', 'run', ['```', `keys      ${head}`, ...lines, '', split, refused, '```'].join('\n'))
})
