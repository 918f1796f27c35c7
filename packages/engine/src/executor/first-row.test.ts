/** first-row/F1: entities with arrays stand in a result once, and stale rows pass. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { systemScheduler } from '../clock.ts'
import { requestContext } from '../context.ts'
import { decodePath } from '../encoding/key-codec.ts'
import { prettyPath } from '../encoding/pretty.ts'
import { normalize } from '../planner/normalize.ts'
import { plan } from '../planner/plan.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { KvTableView } from '../tables/table.ts'
import {
  entity,
  entityRows,
  type ModelEntity,
  type QueryWords,
  query,
  queryDatabase,
  storeOf,
} from '../testing/query-world.ts'
import { openResults } from './execute.ts'
import { pathIn } from './position.ts'

const context = requestContext({ clock: systemScheduler })

async function keysOf(kv: MemoryKv, words: QueryWords, size: number): Promise<string[]> {
  const planned = plan(normalize(query(words), queryDatabase), [])
  const stream = openResults(context, new KvTableView(kv), planned, { bounds: undefined, expect: 4 })
  const keys: string[] = []
  for (;;) {
    const rows = await stream.next(size)
    if (rows.length === 0) break
    keys.push(...rows.map(({ position }) => prettyPath(decodePath(pathIn(planned, position), 0).path)))
  }
  stream.close()
  return keys
}

const values = fc.uniqueArray(fc.bigInt({ min: 0n, max: 9n }), { minLength: 1, maxLength: 4 })

function entitiesOf(lists: readonly (readonly bigint[])[]): readonly ModelEntity[] {
  return lists.map((list, i) => entity(`A:${i + 1}`, { v: list }))
}

test('an entity stands at its first value in either order, for any batch size (first-row/F1)', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(values, { maxLength: 12 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 5 }),
      async (lists, isDown, size) => {
        const kv = storeOf(entitiesOf(lists))
        const sign = isDown ? -1 : 1
        const firstOf = (list: readonly bigint[]): number => Math.min(...list.map((value) => sign * Number(value)))
        const wanted = lists
          .map((list, i) => ({ name: `A:${i + 1}`, first: firstOf(list), id: i }))
          .sort((a, b) => a.first - b.first || a.id - b.id)
          .map(({ name }) => name)
        expect(await keysOf(kv, { kind: 'A', order: [isDown ? 'v desc' : 'v'] }, size)).toEqual(wanted)
      },
    ),
  )
})

test('an inequality counts only the values that it allows', async () => {
  const kv = storeOf(entitiesOf([[1n, 7n], [5n], [2n, 6n, 9n]]))
  const filter = {
    type: 'property',
    property: 'v',
    operator: 'greaterThan',
    value: { type: 'integer', value: 4n },
  } as const
  expect(await keysOf(kv, { kind: 'A', filter, order: ['v'] }, 2)).toEqual(['A:2', 'A:3', 'A:1'])
})

test('a stale row passes, whether its entity has changed or is gone', async () => {
  const before = entityRows(entity('A:1', { v: [1n, 2n] }))
  const after = entityRows(entity('A:1', { v: [3n, 4n] }))
  const entities = (rows: typeof before) => rows.filter(({ table }) => table === 'Entities')
  const indexRows = before.filter(({ table }) => table !== 'Entities')
  const store = (rows: typeof before) => new MemoryKv(rows.map(({ key, value }) => ({ key, value })))
  expect(await keysOf(store([...indexRows, ...entities(after)]), { kind: 'A', order: ['v'] }, 5)).toEqual([
    'A:1',
    'A:1',
  ])
  expect(await keysOf(store(indexRows), { kind: 'A', order: ['v'] }, 5)).toEqual(['A:1', 'A:1'])
})
