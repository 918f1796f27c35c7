import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sampleOverview } from '../../../../test/support/overview-sample.ts'
import { frame, scrollMax, sizeMin, type View, wholePicture } from './frame.ts'
import { type Line, plainText } from './line.ts'

const view: View = { address: '127.0.0.1:8081', spanMs: 600_000, table: undefined, paused: false, scroll: 0 }

function widthOf(given: Line): number {
  return given.reduce((sum, { text }) => sum + [...text].length, 0)
}

describe('a frame', () => {
  test('is exactly as high and as wide as asked for, also when it is too small to tell anything', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 220 }), fc.integer({ min: 1, max: 80 }), (width, height) => {
        const lines = frame(sampleOverview(), view, { width, height })
        expect(lines).toHaveLength(height)
        for (const one of lines) expect(widthOf(one)).toBe(width)
      }),
    )
  })

  test('gives heat all of its rows, or at least half of what head and foot leave', () => {
    for (const height of [sizeMin.height, 24, 40, 60]) {
      const lines = frame(sampleOverview(), view, { width: 120, height }).map(plainText)
      const below = lines.findIndex((one) => one.startsWith('Hottest tablets'))
      const everyRow = 12 + 1
      expect(below - 3).toBeGreaterThanOrEqual(Math.min(everyRow, Math.floor((height - 4) / 2)))
    }
  })

  test('the columns of tablets fit the width, beside the longest name of a table', () => {
    for (const simulated of [true, false]) {
      const { report } = sampleOverview()
      const tablets = report.tablets.map((tablet) => ({ ...tablet, table: 'EntitiesByCompositeProperty' as const }))
      const whole = wholePicture(sampleOverview({ report: { ...report, simulated, tablets } }), view, 120)
      const head = whole.map(plainText).find((one) => one.startsWith('Hottest tablets'))
      expect(head?.trimEnd()).toMatch(simulated ? /server$/ : /size$/)
    }
  })

  test('leaves rows and sizes out where they are not counted', () => {
    const { report } = sampleOverview()
    const whole = wholePicture(sampleOverview({ report: { ...report, counted: false } }), view, 120).map(plainText)
    expect(whole[1]).toMatch(/rows are not counted/)
    expect(whole.join('\n')).not.toMatch(/size|\d rows in|0 B/)
  })

  test('shows the moving edge, the split, the refusal, the group and the finding', () => {
    const text = frame(sampleOverview(), view, { width: 140, height: 40 }).map(plainText).join('\n')
    expect(text).toContain('Entities › demo › ToDo › 7…')
    expect(text).toMatch(/─s─/)
    expect(text).toContain('97 % of the load is at the end')
    expect(text).toContain('Counter:"visits"')
    expect(text).toContain('New entities of ToDo come in the order of their keys')
    expect(text).toContain('simulating; 1 server in use')
    expect(text).toContain('3.0 rejected/s')
  })

  test('scrolled line by line, shows every line of the whole picture', () => {
    const size = { width: 100, height: 14 }
    const whole = wholePicture(sampleOverview(), view, size.width).map(plainText).slice(3)
    const last = scrollMax(sampleOverview(), size)
    expect(last).toBe(whole.length - 10)
    for (let scroll = 1; scroll <= last + 3; scroll++) {
      const lines = frame(sampleOverview(), { ...view, scroll }, size).map(plainText)
      const start = Math.min(scroll, last)
      expect(lines.slice(3, -1)).toEqual(whole.slice(start, start + 10))
      expect(lines.at(-1)).toContain('q quit')
    }
  })

  test('says so when nothing happened yet', () => {
    const { report, heat } = sampleOverview()
    const idle = sampleOverview({
      heat: { ...heat, rows: [] },
      groups: [],
      findings: [],
      report: { ...report, tablets: [] },
    })
    const text = frame(idle, view, { width: 100, height: 20 }).map(plainText).join('\n')
    expect(text).toContain('no row was touched in this time')
    expect(text).not.toContain('NaN')
  })

  test('says when it is paused and when it shows one table', () => {
    const text = frame(sampleOverview(), { ...view, paused: true, table: 'Entities' }, { width: 120, height: 30 })
      .map(plainText)
      .join('\n')
    expect(text).toContain('PAUSED')
    expect(text).toContain('only Entities')
  })
})

test('the whole picture holds every finding, and each cell of heat as a shade', () => {
  const lines = wholePicture(sampleOverview(), view, 120).map(plainText)
  expect(lines.join('\n')).toContain('Lab: sequential-keys.')
  const row = lines.find((one) => one.startsWith('Entities › demo › ToDo › 3…'))
  expect(row).toMatch(/█{4,}/)
})
