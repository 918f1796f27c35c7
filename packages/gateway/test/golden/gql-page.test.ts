/** docs/reference/gql.md against the parser: its examples are GQL, its messages come word for word, its words are reserved. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseGql } from '../../src/gql/parse.ts'
import { printGql } from '../../src/gql/print.ts'
import { reservedWords } from '../../src/gql/tokens.ts'

const page = readFileSync(new URL('../../../../docs/reference/gql.md', import.meta.url), 'utf8')
const allowed = { allowLiterals: true }

const examples = [...page.matchAll(/^```gql\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) => block.trim().split('\n'))

test('the page has examples', () => {
  expect(examples.length).toBeGreaterThan(15)
})

test.each(examples)('golden: %s', (example) => {
  const tree = parseGql(example, allowed)
  expect(parseGql(printGql(tree), allowed)).toEqual(tree)
})

const refusals = [...page.matchAll(/^\| `(SELECT[^\n]*?)` \| `(GQL, [^\n]*)` \|$/gm)].map(
  ([, text = '', message = '']) => ({
    text,
    message: message.replaceAll('\\`', '`'),
  }),
)

test('the page has refusals', () => {
  expect(refusals).toHaveLength(4)
})

test.each(refusals)('golden: $text is refused as the page says', ({ text, message }) => {
  expect(() => parseGql(text, allowed)).toThrow(expect.objectContaining({ message }))
})

test('golden: the words that the page calls reserved are so, and no others', () => {
  const words = /^Reserved: ([^.]*)\./m.exec(page)?.[1]?.split(/\s+/)
  expect(words).toEqual([...reservedWords].sort())
})
