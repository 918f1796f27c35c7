import { expect, test } from 'vitest'
import { piecesOf } from './rich-text.tsx'

test('code, emphasis and links are taken apart; a link to a lab stays one', () => {
  expect(piecesOf('With `a*b` it *holds*: see [the key](hot-key.md) and [a page](../reference/x.md).')).toEqual([
    { type: 'text', text: 'With ' },
    { type: 'code', text: 'a*b' },
    { type: 'text', text: ' it ' },
    { type: 'emphasis', text: 'holds' },
    { type: 'text', text: ': see ' },
    { type: 'lab', text: 'the key', lab: 'hot-key' },
    { type: 'text', text: ' and ' },
    { type: 'text', text: 'a page' },
    { type: 'text', text: '.' },
  ])
  expect(piecesOf('3 * 4 * 5')).toEqual([{ type: 'text', text: '3 * 4 * 5' }])
})
