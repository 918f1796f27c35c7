import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cut, fit, ink, type Line, line, plainText, wrap } from './line.ts'

const lines: fc.Arbitrary<Line> = fc.array(
  fc.record({ text: fc.string(), heat: fc.constantFrom(undefined, 0, 0.5, 1) }).map(({ text, heat }) => {
    return heat === undefined ? { text } : { text, heat }
  }),
)

function width(given: Line): number {
  return given.reduce((sum, { text }) => sum + [...text].length, 0)
}

test('a fitted line is exactly as wide as asked for', () => {
  fc.assert(
    fc.property(lines, fc.nat(100), (given, columns) => {
      expect(width(fit(given, columns))).toBe(columns)
    }),
  )
})

test('a line without colours shows heat as shades', () => {
  expect(plainText(line('a ', { text: '   ', heat: 0 }, { text: '  ', heat: 0.4 }, { text: ' ', heat: 1 }))).toBe(
    'a    ░░█',
  )
  expect(plainText(line(ink('bad', 'hot')))).toBe('hot')
})

test('a long text keeps its ends', () => {
  expect(cut('EntitiesByKind › ToDo › 123456789', 20)).toBe('EntitiesByKi…3456789')
  expect(cut('short', 20)).toBe('short')
})

test('words are wrapped between words', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three'])
  expect(wrap('extraordinary', 5)).toEqual(['extraordinary'])
})
