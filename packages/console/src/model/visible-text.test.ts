import fc from 'fast-check'
import { expect, test } from 'vitest'
import { visibleText } from './visible-text.ts'

test('visible-text/X1: nothing that is unseen or turns the text is left', () => {
  const risky = fc.constantFrom('\u202e', '\u2066', '\u200f', '\u0000', '\n', '\u009f', '\ufeff', 'a', '<b>')
  fc.assert(
    fc.property(fc.array(fc.oneof(risky, fc.string({ unit: 'binary' }))), (parts) => {
      expect(visibleText(parts.join(''))).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u)
    }),
  )
})

test('other text stays as it is', () => {
  expect(visibleText('שלום <b>ada</b> 😀')).toBe('שלום <b>ada</b> 😀')
  expect(visibleText('a\nb\u202ec')).toBe('a␊b⟨U+202E⟩c')
})
