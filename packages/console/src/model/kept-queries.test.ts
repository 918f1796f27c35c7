import { expect, test } from 'vitest'
import { keptQueries, noteQuery } from './kept-queries.ts'
import { keepText } from './kept-text.ts'

test('the latest twenty queries stay, each once, and those that are kept', () => {
  const run = (i: number, isKept?: boolean): void =>
    noteQuery({ address: `#/data/demo/K?gql=${i}`, gql: `${i}`, ...(isKept === undefined ? {} : { isKept }) })
  for (const i of [1, 2, 1]) run(i)
  expect(keptQueries().map(({ gql }) => gql)).toEqual(['1', '2'])
  run(2, true)
  expect(keptQueries()).toMatchObject([{ gql: '1' }, { gql: '2', isKept: true }])
  for (let i = 3; i < 33; i++) run(i)
  expect(keptQueries().map(({ gql }) => Number(gql))).toEqual([...Array.from({ length: 20 }, (_, i) => 32 - i), 2])
  run(2)
  expect(keptQueries()[0]).toMatchObject({ gql: '2', isKept: true })
  run(2, false)
  expect(keptQueries()).toHaveLength(20)
})

test('a part that is no query is left out, and the queries beside it stay', () => {
  const good = { address: '#/data/demo/K', gql: 'SELECT * FROM K', isKept: true }
  const strange = [null, 5, { address: '#/data/demo/K', gql: 5 }, { address: 'javascript:alert(1)', gql: 'a' }, {}]
  keepText('sixtables-queries', JSON.stringify([...strange, good]))
  expect(keptQueries()).toEqual([good])
})
