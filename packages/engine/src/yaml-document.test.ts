import { expect, test } from 'vitest'
import * as yaml from 'yaml'
import { yamlDocument } from './yaml-document.ts'

const parsed = (text: string, intAsBigInt = false) =>
  yamlDocument(yaml, text, { lines: new yaml.LineCounter(), intAsBigInt })

const mistakesOf = ({ errors }: yaml.Document) =>
  errors.map(({ code, pos }) => ({ code, pos })).sort((a, b) => a.pos[0] - b.pos[0])

test('a mapping of many keys costs about as much as a list of so many items', () => {
  const text = (item: (i: number) => string): string => Array.from({ length: 20_000 }, (_, i) => item(i)).join('\n')
  const timed = (source: string): number => {
    const before = process.cpuUsage()
    expect(parsed(source).errors).toEqual([])
    return process.cpuUsage(before).user
  }
  timed(text((i) => `- k${i}: 1`))
  const list = timed(text((i) => `- k${i}: 1`))
  expect(timed(text((i) => `k${i}: 1`)) / list).toBeLessThan(3)
})

test.each([
  ['lists', '['.repeat(4_000)],
  ['mappings', '{a: '.repeat(4_000)],
  ['items of lists', '- '.repeat(4_000)],
  ['keys of mappings', '? '.repeat(4_000)],
  ['lists that end', '['.repeat(300) + ']'.repeat(300)],
  ['lists in a key', `{${'['.repeat(300)}${']'.repeat(300)}: 1}`],
])('%s inside each other are refused before they are composed', (_, text) => {
  expect(() => parsed(text)).toThrow('the text is nested deeper than 200 levels')
})

test('a text that is nested too deep is not read to its end', () => {
  const before = process.cpuUsage()
  expect(() => parsed('- '.repeat(5_000_000))).toThrow('nested deeper')
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(500)
})

test('200 levels are read, and 201 are not', () => {
  for (const [open, close] of [
    ['[', ']'],
    ['{a: ', '}'],
    ['- ', ''],
  ] as const) {
    const text = (levels: number): string => open.repeat(levels) + close.repeat(levels)
    expect(parsed(text(200)).errors).toEqual([])
    expect(() => parsed(text(201))).toThrow('nested deeper')
  }
})

test('a text of fewer levels is read as parseDocument() reads it', () => {
  const deep = '['.repeat(100) + ']'.repeat(100)
  const repeated = 'a: 1\nb: {c: 1, "c": 2, 5: 3, 5: 4}\n&x a: 2\n*x : 3\n? [1]\n: 1\n? [1]\n: 2\n'
  for (const text of [
    '',
    'a: 1\nb: [2, x]\n',
    'a: &x 1\nb: *x',
    'a: [',
    deep,
    '--- 1\n--- 2\n',
    '# nothing',
    repeated,
  ]) {
    const [ours, theirs] = [parsed(text, true), yaml.parseDocument(text, { intAsBigInt: true, prettyErrors: false })]
    expect(mistakesOf(ours)).toEqual(mistakesOf(theirs))
    if (ours.errors.length === 0) expect(ours.toJS()).toEqual(theirs.toJS())
  }
})
