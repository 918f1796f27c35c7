import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type LimitName, limitNotes, limits } from './limits.ts'

const page = new URL('../../../docs/reference/limits.md', import.meta.url)
const names = Object.keys(limits) as LimitName[]

function row(name: LimitName): string {
  const { what, source } = limitNotes[name]
  return `| \`${name}\` | ${limits[name].toLocaleString('en-US')} | ${what} | ${source} |`
}

const isRow = (line: string): boolean => line.startsWith('| `')

describe('limits', () => {
  it('have the rows of the reference page (golden)', () => {
    const lines = readFileSync(page, 'utf8').split('\n')
    if (process.env['GOLDEN'] === 'rewrite') {
      const ruler = lines.findIndex((line) => line.startsWith('| ---'))
      const others = (part: string[]): string[] => part.filter((line) => !isRow(line))
      const rewritten = [...others(lines.slice(0, ruler + 1)), ...names.map(row), ...others(lines.slice(ruler + 1))]
      writeFileSync(page, rewritten.join('\n'))
      return
    }
    // Blanks that only line up the columns do not count.
    expect(lines.filter(isRow).map((line) => line.replace(/ +/g, ' '))).toEqual(names.map(row))
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
