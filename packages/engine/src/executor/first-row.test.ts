/** first-row/F1: entities with arrays stand in a result once, and stale rows pass. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { systemScheduler } from '../clock.ts'
import { requestContext } from '../context.ts'
import { type IndexEntry, indexEntries } from '../encoding/index-entries.ts'
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
import { turnScheduler } from '../testing/turn-scheduler.ts'
import { openResults } from './execute.ts'
import { FirstRow } from './first-row.ts'
import { pathIn } from './position.ts'

const context = requestContext({ clock: systemScheduler })

async function keysOf(kv: MemoryKv, words: QueryWords, size: number): Promise<string[]> {
  const planned = plan(normalize(query(words), queryDatabase), [])
  const stream = openResults({ context, view: new KvTableView(kv), plan: planned }, { bounds: undefined, expect: 4 })
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

test.each([2, 100])('a stale row passes, whether its entity of %i values has changed or is gone', async (count) => {
  const valuesFrom = (least: number) => Array.from({ length: count }, (_, i) => BigInt(least + i))
  const before = entityRows(entity('A:1', { v: valuesFrom(0) }))
  const after = entityRows(entity('A:1', { v: valuesFrom(count) }))
  const each = Array.from({ length: count }, () => 'A:1')
  const entities = (rows: typeof before) => rows.filter(({ table }) => table === 'Entities')
  const indexRows = before.filter(({ table }) => table !== 'Entities')
  const store = (rows: typeof before) => new MemoryKv(rows.map(({ key, value }) => ({ key, value })))
  expect(await keysOf(store([...indexRows, ...entities(after)]), { kind: 'A', order: ['v'] }, 5)).toEqual(each)
  expect(await keysOf(store(indexRows), { kind: 'A', order: ['v'] }, 5)).toEqual(each)
})

/**
 * The keys of a result in the order of `v desc`, the numbers of entries that were walked for them, and the turns.
 *
 * @param more - entries that every entity has besides
 */
async function walkedFor(lists: readonly (readonly bigint[])[], more: readonly IndexEntry[] = []) {
  const view = new KvTableView(storeOf(entitiesOf(lists)))
  const planned = plan(normalize(query({ kind: 'A', order: ['v desc'] }), queryDatabase), [])
  const walked: number[] = []
  let turns = 0
  const clock = turnScheduler(() => turns++)
  const judging = requestContext({ clock })
  const stream = new FirstRow(
    openResults({ context, view, plan: { ...planned, firstRowOnly: false } }, { bounds: undefined, expect: 4 }),
    { context: judging, view, plan: planned },
    (...entity: Parameters<typeof indexEntries>) => {
      const entries = [...indexEntries(...entity), ...more]
      walked.push(entries.length)
      return entries
    },
  )
  const found: string[] = []
  for (let rows = await stream.next(7); rows.length > 0; rows = await stream.next(7)) {
    found.push(...rows.map(({ position }) => prettyPath(decodePath(pathIn(planned, position), 0).path)))
  }
  stream.close()
  return { found, walked, turns }
}

test('forty entities of 20,000 values whose rows alternate are walked once each', async () => {
  const more = Array.from({ length: 20_000 }, (_, i): IndexEntry => {
    return { property: 'v', valueCode: `\x01${String(i).padStart(8, '0')}`, type: 1, multi: true }
  })
  const { found, walked } = await walkedFor(
    Array.from({ length: 40 }, () => [1n, 2n, 3n]),
    more,
  )
  expect(found).toHaveLength(40)
  expect(walked).toHaveLength(40)
})

test('the values of a large entity are walked once for all of its rows', async () => {
  const even = Array.from({ length: 300 }, (_, i) => BigInt(2 * i))
  const { found, walked } = await walkedFor([even, even.map((value) => value + 1n), [5n, 6n]])
  expect(found).toEqual(['A:2', 'A:1', 'A:3'])
  expect(walked).toEqual([300, 300, 2, 2])
})

test('many large entities of the same values are walked once, in several turns', async () => {
  const values = Array.from({ length: 6000 }, (_, i) => BigInt(i))
  const { found, walked, turns } = await walkedFor(Array.from({ length: 18 }, () => values))
  expect(found).toHaveLength(18)
  expect(walked).toHaveLength(18)
  expect(turns).toBeGreaterThanOrEqual(18)
})
