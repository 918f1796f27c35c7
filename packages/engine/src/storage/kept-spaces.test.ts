import { expect, test } from 'vitest'
import { KeptSpaces } from './kept-spaces.ts'

test.each([
  [{ start: 'b', end: 'b\x01' }, 'b'],
  [{ start: 'b7', end: 'c' }, 'b'],
  [{ start: 'b7', end: 'd1' }, 'bcd'],
  [{ start: '', end: '\x01' }, '\x00'],
  [{ start: 'c', end: 'b' }, ''],
])('keeps the key spaces that a range touches: %j', (range, expected) => {
  const kept = new KeptSpaces()
  kept.addRange(range)
  kept.addRange(range)
  const all = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte))
  expect(all.filter((key) => kept.has(`${key}x`)).join('')).toBe(expected)
  expect(kept.count).toBe(expected.length)
})

test('the empty key is one of the first key space', () => {
  const kept = new KeptSpaces()
  kept.add('')
  expect([kept.has(''), kept.has('\x00x'), kept.has('a')]).toEqual([true, true, false])
})
