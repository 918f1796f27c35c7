import { expect, test } from 'vitest'
import { lineOf, linesOf, type Piece, sectionsOf } from './chapter-text.ts'

test('lines for a terminal are commands, labs, challenges and settings of a server, or say why they are none of these', () => {
  expect(lineOf(`npx sixtables put User:ada/ToDo:1 '{"title": "look inside"}'   # fails, with exit code 1`)).toEqual({
    type: 'command',
    words: ['put', 'User:ada/ToDo:1', '{"title": "look inside"}'],
  })
  expect(lineOf('npx sixtables-lab run ramp --arm a --arm b --set x.y=5 --seed 7')).toEqual({
    type: 'lab',
    lab: 'ramp',
    run: { arms: ['a', 'b'], settings: { 'x.y': 5 }, seed: 7 },
  })
  expect(lineOf('npx sixtables-lab challenge judge ../course/like-button')).toEqual({
    type: 'challenge',
    name: 'like-button',
  })
  expect(lineOf('npm start -- --testing')).toEqual({ type: 'start', settings: { mode: 'firestore' } })
  expect(lineOf('npm start -- --testing --mode legacy --apply manual')).toEqual({
    type: 'start',
    settings: { mode: 'legacy', jobPolicy: { manualJobPolicy: true } },
  })
  for (const line of [
    'npm start -- --testing --simulate --simulate-scale 100',
    'npx sixtables-lab run ramp --arm a --endpoint 127.0.0.1:8081 --seconds 30',
    'npx sixtables top --once',
  ])
    expect(lineOf(line).type, line).toBe('terminal')
})

test('a chapter has its parts by their headings, and the lines of all of its blocks', () => {
  const of = (tag: string, ...inside: readonly Piece[]): Piece => ({ tag, inside })
  const pre = (about: string, text: string): Piece => ({ tag: 'pre', about, inside: [text] })
  const pieces: readonly Piece[] = [
    of('h1', '1. Rows'),
    of('p', 'Goals.'),
    of('h2', 'Try ', of('code', 'it')),
    pre('sh', 'a\nb'),
    of('ol', of('li', pre('sh', 'c'), pre('text', 'd'))),
  ]
  expect(sectionsOf(pieces).map(({ title, pieces: { length } }) => [title, length])).toEqual([
    ['', 1],
    ['Try it', 2],
  ])
  expect(linesOf(pieces)).toEqual(['a', 'b', 'c'])
})
