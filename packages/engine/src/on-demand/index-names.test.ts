/** Looking into the property tables of a store that makes their rows on demand: the same rows, and few of them made. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { mutationOf } from '../../test/property/log-world.ts'
import { encodeKey, encodeProperties } from '../encoding/entity-codec.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import type { Key } from '../model/key.ts'
import { TreeScan } from '../storage/btree-scan.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'

const keyOf = (kind: string, id: number): Key => ({
  partition: { projectId: 'p', databaseId: '', namespaceId: '' },
  path: [{ kind, id: BigInt(id) }],
})

/** On demand, and with every row. */
let engines: readonly [Engine, Engine]

beforeEach(async () => {
  engines = [
    await openEngine({ scheduler: new VirtualClock() }),
    await openEngine({ kv: new MemoryKv(), scheduler: new VirtualClock() }),
  ]
})

afterEach(async () => {
  for (const engine of engines) await engine.close()
})

/** @param property - a property that the entities have alone, instead of those of other calls */
async function write(kind: string, from: number, to: number, property?: string): Promise<void> {
  for (const engine of engines) {
    const mutations = Array.from({ length: to - from }, (_, i) => {
      const key = keyOf(kind, from + i)
      if (property === undefined) return mutationOf(key, from + i)
      const bytes = encodeKey(key)
      const properties = encodeProperties(new Map([[property, { type: 'integer', value: BigInt(i) }]]))
      return {
        operation: 'upsert' as const,
        entity: Buffer.concat([Uint8Array.of(0x0a, bytes.length), bytes, properties]),
      }
    })
    await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
  }
}

/** The rows of a table, seven at a time. */
async function walk(engine: Engine, table: 'EntitiesByPropertyAsc' | 'EntitiesByPropertyDesc', backwards: boolean) {
  const found: string[] = []
  const beyond = `${table === 'EntitiesByPropertyAsc' ? '41' : '44'}ffff`
  for (let at: string | undefined = backwards ? beyond : undefined; ; ) {
    const where = at === undefined ? {} : backwards ? { before: at } : { after: at }
    const { rows, next, previous } = await engine.inspector.table(table, { limit: 7, ...where })
    const keys = rows.map(({ rowKey }) => rowKey)
    if (backwards) found.unshift(...keys)
    else found.push(...keys)
    at = backwards ? previous : next
    if (at === undefined) return found
  }
}

test.each([
  ['EntitiesByPropertyAsc', false],
  ['EntitiesByPropertyAsc', true],
  ['EntitiesByPropertyDesc', false],
  ['EntitiesByPropertyDesc', true],
] as const)(
  '%s has the rows of a store that keeps all, backwards %s, also of kinds and properties that come',
  async (table, backwards) => {
    for (const [kind, from, to, property] of [
      ['A', 1, 20],
      ['B', 1, 5],
      ['A', 20, 30],
      ['A', 25, 40, 'a-new-one'],
      ['C', 1, 3],
    ] as const) {
      await write(kind, from, to, property)
      const [some, all] = [await walk(engines[0], table, backwards), await walk(engines[1], table, backwards)]
      expect(some).toEqual(all)
      expect(all.length).toBeGreaterThan(0)
    }
  },
)

test('a few rows of a table, and the rows of one entity, make no index but the one that is read', async () => {
  await write('A', 1, 200)
  const [engine] = engines
  const rowsNow = async (): Promise<number> => {
    const snapshot = await engine.snapshot()
    const { rows } = snapshot
    snapshot.close()
    return rows
  }
  const before = await rowsNow()
  const { rows } = await engine.inspector.rows(keyOf('A', 7))
  expect(rows.filter(({ table }) => table.startsWith('EntitiesByProperty'))).toHaveLength(8)
  expect(await rowsNow()).toBe(before)
  await engine.inspector.table('EntitiesByPropertyAsc', { projectId: 'p', kind: 'A', property: 'v', limit: 10 })
  expect(await rowsNow()).toBe(before + 199)
  // The list has two values, and so 398 rows; what comes before it is not asked for.
  const listRow = rows.find(({ row }) => row.includes('Desc') && row.includes('list='))?.rowKey ?? ''
  await engine.inspector.table('EntitiesByPropertyDesc', { from: listRow, limit: 10 })
  expect(await rowsNow()).toBe(before + 199 + 398)
})

test.each([false, true])(
  'the first rows of a table cost the same beside few and many kinds, backwards %s',
  async (backwards) => {
    const where = backwards ? { before: '41ffff' } : {}
    const next = vi.spyOn(TreeScan.prototype, 'next')
    const readsBeside = async (from: number, to: number): Promise<number> => {
      for (let i = from; i < to; i++) await write(`K${String(i).padStart(3, '0')}`, 1, 10)
      next.mockClear()
      const { rows } = await engines[0].inspector.table('EntitiesByPropertyAsc', { limit: 5, ...where })
      expect(rows).toHaveLength(5)
      return next.mock.calls.length
    }
    const few = await readsBeside(50, 55)
    expect(await readsBeside(backwards ? 0 : 55, backwards ? 50 : 105)).toBeLessThanOrEqual(few)
  },
)
