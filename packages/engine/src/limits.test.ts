import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { limits } from './limits.ts'

const page = new URL('../../../docs/reference/limits.md', import.meta.url)
const names = Object.keys(limits) as (keyof typeof limits)[]

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
const isRow = (line: string): boolean => line.startsWith('| `')

describe('limits', () => {
  it('have the figures of the reference page, which says what each limits and where its figure is from (golden)', () => {
    const lines = readFileSync(page, 'utf8').split('\n')
    const figureOf = (name: keyof typeof limits): string => limits[name].toLocaleString('en-US')
    if (process.env['GOLDEN'] === 'rewrite') {
      const rewritten = lines.map((line) => {
        const [name = '', , ...words] = isRow(line) ? cellsOf(line) : []
        const limit = names.find((one) => name === `\`${one}\``)
        return limit === undefined ? line : `| ${[name, figureOf(limit), ...words].join(' | ')} |`
      })
      writeFileSync(page, rewritten.join('\n'))
      return
    }
    const rows = lines.filter(isRow).map(cellsOf)
    expect(rows.map(([name, figure]) => [name, figure])).toEqual(names.map((name) => [`\`${name}\``, figureOf(name)]))
    for (const row of rows) expect(row.map((cell) => cell !== '')).toEqual([true, true, true, true])
  })

  it('name their unit', () => {
    const units = [
      'Bytes',
      'Characters',
      'Elements',
      'Depth',
      'Entries',
      'Properties',
      'Transforms',
      'Keys',
      'EntityGroups',
      'Ms',
      'Components',
      'disjunctions',
      'Values',
      'aggregations',
      'Databases',
      'Dimensions',
      'Results',
    ]
    for (const name of names) expect(units.some((unit) => name.endsWith(`${unit}Max`))).toBe(true)
  })
})
