import { type StreamLanguage, syntaxTree } from '@codemirror/language'
import { EditorState } from '@codemirror/state'
import { expect, test } from 'vitest'
import { gqlLanguage, jsLanguage, jsonLanguage } from './languages.ts'

/** Each token that has a colour, with its name. */
function coloured(language: StreamLanguage<unknown>, doc: string): string {
  const found: string[] = []
  syntaxTree(EditorState.create({ doc, extensions: [language] })).iterate({
    enter: ({ name, from, to }) => {
      if (name !== 'Document') found.push(`${doc.slice(from, to)} ${name}`)
    },
  })
  return found.join(', ')
}

test('GQL has the tokens of its reader', () => {
  expect(coloured(gqlLanguage, "SELECT * FROM T WHERE a = KEY(K, 1) AND key > -2.5 AND b = 'x' AND c = TRUE")).toBe(
    "SELECT keyword, FROM keyword, WHERE keyword, KEY variableName.function, 1 number, AND keyword, -2.5 number, AND keyword, 'x' string, AND keyword, TRUE number",
  )
  expect(coloured(gqlLanguage, "FROM T WHERE a = 'open")).toBe("FROM keyword, WHERE keyword, 'open invalid")
})

test('JSON has names, texts and numbers', () => {
  expect(coloured(jsonLanguage, '{"a": "b\\"c", "d" : [-1.5e3, true, null], x}')).toBe(
    '"a" propertyName, "b\\"c" string, "d" propertyName, -1.5e3 number, true number, null number, x invalid',
  )
})

test('JavaScript has keywords, texts over lines, comments and calls', () => {
  expect(coloured(jsLanguage as StreamLanguage<unknown>, 'await f(1, `a\nb`) // c\n/* d\n e */ x')).toBe(
    'await keyword, f variableName.function, 1 number, `a string, b` string, // c comment, /* d comment,  e */ comment',
  )
})
