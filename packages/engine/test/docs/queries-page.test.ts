/** The plans and positions printed in docs/architecture/queries.md are those of the planner. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { byteString, hexOf } from '../../src/encoding/bytes.ts'
import { pathCode } from '../../src/encoding/key-codec.ts'
import { encodeCursor } from '../../src/executor/cursor.ts'
import { planText, planTree } from '../../src/planner/explain.ts'
import { MissingIndexError } from '../../src/planner/missing-index.ts'
import { normalize } from '../../src/planner/normalize.ts'
import { plan } from '../../src/planner/plan.ts'
import {
  and,
  entity,
  entityRows,
  index,
  key,
  or,
  type QueryWords,
  query,
  queryDatabase,
  where,
} from '../../src/testing/query-world.ts'

const page = readFileSync(new URL('../../../../docs/architecture/queries.md', import.meta.url), 'utf8')

/** Blocks of the page that have a query above a line of dashes, by query. */
const printed = new Map(
  [...page.matchAll(/```\n(query [^\n]*)\n---\n([\s\S]*?)\n```/g)].map(([, asked = '', answer = '']) => [
    asked,
    answer,
  ]),
)

const ada = where('owner', '=', 'ada')

const queries: Readonly<Record<string, QueryWords & { indexes?: string[] }>> = {
  'query ToDo where owner = "ada" and done = false': { filter: and(ada, where('done', '=', false)) },
  'query ToDo where priority > 3 order by priority desc': {
    filter: where('priority', '>', 3n),
    order: ['priority desc'],
  },
  'query ToDo where owner = "ada" order by due, with ToDo(owner, due)': {
    filter: ada,
    order: ['due'],
    indexes: ['ToDo(owner, due)'],
  },
  'query ToDo where owner = "ada" or priority = 5': { filter: or(ada, where('priority', '=', 5n)) },
  'query ToDo where priority != 3': { filter: where('priority', '!=', 3n) },
  'query ToDo where priority > 3 order by __key__': { filter: where('priority', '>', 3n), order: ['__key__'] },
  'query ToDo where owner = "ada" order by due': { filter: ada, order: ['due'] },
}

test('every plan on the page is of a query here, and the other way round', () => {
  expect([...printed.keys()].sort()).toEqual(Object.keys(queries).sort())
})

test.each(Object.entries(queries))('%s', (asked, { indexes = [], ...words }) => {
  const definitions = indexes.map((each, i) => index(each, BigInt(i + 1)))
  let answer: string
  try {
    answer = planText(planTree(plan(normalize(query({ kind: 'ToDo', ...words }), queryDatabase), definitions)))
  } catch (error) {
    if (!(error instanceof MissingIndexError)) throw error
    answer = `${error.code}: ${error.message.trimEnd()}`
  }
  expect(printed.get(asked)).toBe(answer)
})

test('the row, position and cursor in bytes are those of the page', () => {
  const stored = entity('ToDo:1', { priority: 5n })
  const row = entityRows(stored).find(({ table }) => table === 'EntitiesByPropertyAsc')?.key ?? ''
  const normal = normalize(query({ kind: 'ToDo', order: ['priority'] }), queryDatabase)
  const path = pathCode(key('ToDo:1').path)
  const prefix = row.indexOf('priority') + 'priority'.length + 2
  const position = row.slice(prefix)
  expect(position.endsWith(path)).toBe(true)
  expect(page).toContain(`priority = 5   ${hexOf(position.slice(0, -path.length))}`)
  expect(page).toContain(`ToDo:1         ${hexOf(path)}`)
  const head = hexOf(byteString(encodeCursor(normal, { place: 'above', position })).slice(0, 2))
  expect(page).toContain(`${head} <shape> <position>`)
})
