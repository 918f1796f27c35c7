import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keysIn } from './screen.ts'

test('the keys of a piece, joined, are the piece', () => {
  const piece = fc.array(
    fc.oneof(
      fc.constantFrom('\u001b', '\u001b[A', '\u001bOB', '\u001b[5~', '[', 'q', '\t'),
      fc.string({ unit: 'grapheme' }),
    ),
  )
  fc.assert(
    fc.property(piece, (parts) => {
      expect(keysIn(parts.join('')).join('')).toBe(parts.join(''))
    }),
  )
})

test('keys that arrive together are told apart', () => {
  expect(keysIn('++p\u001b[A\u001b[6~\u001bOB\tq')).toEqual([
    '+',
    '+',
    'p',
    '\u001b[A',
    '\u001b[6~',
    '\u001bOB',
    '\t',
    'q',
  ])
  expect(keysIn('\u001b')).toEqual(['\u001b'])
  expect(keysIn('\u001bq')).toEqual(['\u001b', 'q'])
})
