import { expect, test } from 'vitest'
import { type Entry, markedPlace, StatementReader } from './statements.ts'

/** Entries of each line: the text of a query, else its type; the last list has those that the end of the input completes. */
function read(...lines: readonly string[]): string[][] {
  const reader = new StatementReader()
  const inWords = (entry: Entry): string =>
    entry.type === 'query' ? `${entry.explain ? 'plan of ' : ''}${entry.text}` : entry.type
  return [...lines.map((line) => reader.push(line)), reader.end()].map((entries) => entries.map(inWords))
}

test.each<[string, string[], string[][]]>([
  ['a whole line runs at once', ['SELECT * FROM T'], [['SELECT * FROM T'], []]],
  ['several lines end with ;', ['SELECT *', 'FROM T', 'LIMIT 1;'], [[], [], ['SELECT *\nFROM T\nLIMIT 1'], []]],
  ['or with an empty line', ['SELECT *', 'FROM T', ''], [[], [], ['SELECT *\nFROM T'], []]],
  ['or with the input', ['SELECT *', 'FROM T'], [[], [], ['SELECT *\nFROM T']]],
  ['two on a line', ['SELECT * FROM T; SELECT * FROM U;'], [['SELECT * FROM T', 'SELECT * FROM U'], []]],
  ['a rest goes on', ['SELECT * FROM T; SELECT *', 'FROM U;'], [['SELECT * FROM T'], ['SELECT *\nFROM U'], []]],
  [
    'semicolons within strings and quoted names end nothing',
    ["SELECT * FROM `a;b` WHERE c = ';' LIMIT", '1;'],
    [[], ["SELECT * FROM `a;b` WHERE c = ';' LIMIT\n1"], []],
  ],
  ['a mistake is told at once', ['SELECT * FORM T'], [['SELECT * FORM T'], []]],
  [
    'explain',
    ['explain SELECT * FROM T', 'EXPLAIN', 'SELECT * FROM T;'],
    [['plan of SELECT * FROM T'], [], ['plan of SELECT * FROM T'], []],
  ],
  ['commands', ['help', '\\?', 'exit;', ' \\q ', ';', ''], [['help'], ['help'], ['exit'], ['exit'], [], [], []]],
  ['commands are none within a query', ['SELECT', 'exit'], [[], [], ['SELECT\nexit']]],
])('%s', (_, lines, entries) => {
  expect(read(...lines)).toEqual(entries)
})

test('a message marks its place; another marks none', () => {
  expect(markedPlace('SELECT *\n\tFORM T', 'GQL, line 2, column 2: found "FORM"')).toEqual(['\tFORM T', '\t^'])
  expect(markedPlace('SELECT * FROM T', 'no server answers')).toEqual([])
})
