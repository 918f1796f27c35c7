import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { mutationOf } from '../../../test/property/log-world.ts'
import { type Engine, openEngine } from '../../engine/engine.ts'
import { index } from '../../testing/query-world.ts'
import type { TableReport } from './reports.ts'
import type { TableRowsOptions } from './table-rows.ts'

let engine: Engine

beforeEach(async () => {
  engine = await openEngine()
  const database = engine.database('p')
  await engine.createIndex(database, index('A(parity, v)'))
  await engine.createIndex(database, index('B(parity, v desc)'))
  for (const namespaceId of ['', 'n']) {
    const partition = { projectId: 'p', databaseId: '', namespaceId }
    const keys = ['A', 'B'].flatMap((kind) =>
      Array.from({ length: 12 }, (_, i) => ({ partition, path: [{ kind, id: BigInt(i + 1) }] })),
    )
    const mutations = keys.map((key, i) => mutationOf(key, i))
    await database.commit(engine.context(), { mode: 'nonTransactional', mutations })
  }
  await engine.database('q').commit(engine.context(), {
    mode: 'nonTransactional',
    mutations: [
      mutationOf({ partition: { projectId: 'q', databaseId: '', namespaceId: '' }, path: [{ kind: 'A', id: 1n }] }, 1),
    ],
  })
})

afterEach(() => engine.close())

type Table = Parameters<Engine['inspector']['table']>[0]

const rowsOf = async (table: Table, options: TableRowsOptions = {}): Promise<readonly string[]> =>
  (await engine.inspector.table(table, { limit: 1000, ...options })).rows.map(({ row }) => row)

const words: Readonly<Record<string, (row: string) => boolean>> = {
  p: (row) => row.includes('(p, '),
  n: (row) => row.includes('ns=n'),
  B: (row) => /\bB\b/.test(row) && !row.includes('ns=n'),
  v: (row) => /\bB, v=/.test(row) && !row.includes('ns=n'),
}

test.each<[string, readonly Table[], TableRowsOptions]>([
  ['p', ['Entities', 'EntitiesByCompositeProperty', 'Log', 'EntitiesByPropertyDesc'], { projectId: 'p' }],
  ['n', ['Entities', 'EntitiesByKind', 'EntitiesByCompositeProperty', 'Log'], { projectId: 'p', namespaceId: 'n' }],
  ['B', ['Entities', 'EntitiesByKind', 'EntitiesByCompositeProperty', 'Log'], { projectId: 'p', kind: 'B' }],
  ['v', ['EntitiesByPropertyAsc', 'EntitiesByPropertyDesc'], { projectId: 'p', kind: 'B', property: 'v' }],
])('the scope of %s has its rows of a table and no others', async (name, tables, scope) => {
  for (const table of tables) {
    const expected = (await rowsOf(table)).filter((row) => words[name]?.(row))
    expect(expected.length).toBeGreaterThan(0)
    expect(await rowsOf(table, scope)).toEqual(expected)
  }
})

describe.each<[Table, TableRowsOptions]>([
  ['EntitiesByPropertyAsc', {}],
  ['EntitiesByCompositeProperty', { projectId: 'p', namespaceId: '', kind: 'A' }],
  ['EntitiesByCompositeProperty', { projectId: 'p', namespaceId: 'n' }],
])('table-rows/TR1: %s in %j', (table, scope) => {
  test('is met row by row, forwards from next and backwards from previous', async () => {
    const all = await rowsOf(table, scope)
    const forwards: string[] = []
    for (let after: string | undefined; ; ) {
      const report: TableReport = await engine.inspector.table(table, { ...scope, limit: 7, after })
      forwards.push(...report.rows.map(({ row }) => row))
      after = report.next
      if (after === undefined) break
    }
    expect(forwards).toEqual(all)

    const backwards: string[] = []
    for (let before: string | undefined = 'ff'; before !== undefined; ) {
      const prefix = (await engine.inspector.table(table, { limit: 1 })).rows[0]?.rowKey.slice(0, 2)
      const end: string = before === 'ff' ? `${prefix}ffffff` : before
      const report: TableReport = await engine.inspector.table(table, { ...scope, limit: 7, before: end })
      backwards.unshift(...report.rows.map(({ row }) => row))
      before = report.previous
    }
    expect(backwards).toEqual(all)
  })
})

test('rows tell the tablets that they lie in, and long words are cut', async () => {
  const { rows } = await engine.inspector.table('Entities', { limit: 1000 })
  const middle = rows[20]?.rowKey.replaceAll(' ', '') ?? ''
  engine.tablets.split('Entities', Buffer.from(middle, 'hex').toString('latin1'))
  const { tablets } = await engine.inspector.table('Entities', { limit: 30 })
  expect(tablets.map(({ start }) => start.replaceAll(' ', ''))).toEqual(['', middle])
  expect((await engine.inspector.table('Entities', { limit: 5 })).tablets).toHaveLength(1)
  const cut = await engine.inspector.table('Entities', { limit: 1, words: 10 })
  expect(cut.rows[0]).toMatchObject({ row: 'Entities(p…', value: 'version 17…' })
})

test.each<[Table, TableRowsOptions, string]>([
  ['Entities', { after: '4b' }, 'is not a row key of Entities'],
  ['Entities', { from: '4' }, 'is a row key in hexadecimal'],
  ['Entities', { kind: 'A' }, 'the project of the database, namespace or kind is missing'],
  ['Entities', { projectId: 'p', property: 'v' }, 'property is of a kind'],
  ['Entities', { limit: 1001 }, 'limit is 1 to 1000'],
])('%s with %j is refused', async (table, options, message) => {
  await expect(engine.inspector.table(table, options)).rejects.toThrow(message)
})
