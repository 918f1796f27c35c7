import { expect, test } from 'vitest'
import * as yaml from 'yaml'
import { yamlDocument } from './yaml-document.ts'

const parsed = (text: string, intAsBigInt = false) =>
  yamlDocument(yaml, text, { lines: new yaml.LineCounter(), intAsBigInt })

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

test('a text of fewer levels is read as parseDocument() reads it', () => {
  const deep = '['.repeat(100) + ']'.repeat(100)
  for (const text of ['', 'a: 1\nb: [2, x]\n', 'a: &x 1\nb: *x', 'a: [', deep, '--- 1\n--- 2\n', '# nothing']) {
    const [ours, theirs] = [parsed(text, true), yaml.parseDocument(text, { intAsBigInt: true, prettyErrors: false })]
    expect(ours.errors.map(({ code, pos }) => [code, pos])).toEqual(theirs.errors.map(({ code, pos }) => [code, pos]))
    if (ours.errors.length === 0) expect(ours.toJS()).toEqual(theirs.toJS())
  }
})
