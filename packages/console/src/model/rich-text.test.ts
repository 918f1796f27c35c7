import { expect, test } from 'vitest'
import { piecesOf } from './chapter-text.ts'

test('code, emphasis and links are taken apart; a link to a lab stays one', () => {
  expect(piecesOf('With `a*b` it *holds*: see [the key](hot-key.md) and [a page](../reference/x.md).')).toEqual([
    'With ',
    { tag: 'code', inside: ['a*b'] },
    ' it ',
    { tag: 'em', inside: ['holds'] },
    ': see ',
    { tag: 'a', about: '../labs/hot-key.md', inside: ['the key'] },
    ' and ',
    { tag: 'a', about: '../reference/x.md', inside: ['a page'] },
    '.',
  ])
  expect(piecesOf('3 * 4 * 5')).toEqual(['3 * 4 * 5'])
})
