/** The effect of a reset on the store while it runs, and the bytes it leaves on disk. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { mutationOf } from '../../test/property/log-world.ts'
import { encodeKey, encodeProperties } from '../encoding/entity-codec.ts'
import type { Key } from '../model/key.ts'
import type { Query } from '../model/query.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { AsyncKv } from '../testing/async-kv.ts'
import { type Engine, openEngine } from './engine.ts'
import type { ResetScope } from './reset.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sixtables-reset-'))
  folders.push(folder)
  return folder
}

const stores: Readonly<Record<string, () => Promise<Engine>>> = {
  'in memory': () => openEngine(),
  'on disk': () => openEngine({ dir: newFolder() }),
  'by promise': () => openEngine({ kv: new AsyncKv(new MemoryKv()) }),
}

const keyOf = (namespaceId: string, id: number): Key => ({
  partition: { projectId: 'p', databaseId: '', namespaceId },
  path: [{ kind: 'A', id: BigInt(id) }],
})
const entities = 300

async function fill(engine: Engine, namespaceId: string): Promise<void> {
  const mutations = Array.from({ length: entities }, (_, i) => mutationOf(keyOf(namespaceId, i + 1), i))
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
}

async function countBy(engine: Engine, namespaceId: string, order: string): Promise<number> {
  const { partition } = keyOf(namespaceId, 1)
  const query: Query = {
    partition,
    kind: 'A',
    projection: [],
    filter: undefined,
    order: [{ property: order, direction: 'ascending' }],
    distinctOn: [],
    offset: 0,
  }
  const aggregation = { query, aggregations: [{ alias: 'n', operator: 'count' as const, upTo: undefined }] }
  const { values } = await engine.database('p').runAggregationQuery(engine.context(), aggregation)
  return Number((values.get('n') as { value: bigint }).value)
}

describe.each(Object.keys(stores))('%s', (store) => {
  test.each<[string, ResetScope]>([
    ['a namespace', { projectId: 'p', databaseId: '', namespaceId: 'gone' }],
    ['a project', { projectId: 'p' }],
    ['everything', {}],
  ])('a query beside a reset of %s finds all that there was, or nothing', async (_, scope) => {
    const engine = await (stores[store] as () => Promise<Engine>)()
    await fill(engine, 'gone')
    expect(await countBy(engine, 'gone', 'v')).toBe(entities)
    let isOver = false
    const reset = engine.reset(scope).finally(() => {
      isOver = true
    })
    const found: number[] = []
    do {
      for (const order of ['v', '__key__', 'parity']) found.push(await countBy(engine, 'gone', order))
      await new Promise((resolve) => setImmediate(resolve))
    } while (!isOver)
    await reset
    expect([0, entities]).toEqual(expect.arrayContaining([...new Set(found)]))
    expect(found, 'nothing comes back').toEqual(found.toSorted((a, b) => b - a))
    expect(await countBy(engine, 'gone', 'v')).toBe(0)
    expect(await engine.check()).toMatchObject({ problemCount: 0 })
    await engine.close()
  })

  test('a reset whose caller has gone deletes nothing', async () => {
    const engine = await (stores[store] as () => Promise<Engine>)()
    await fill(engine, 'kept')
    const context = engine.context({ signal: AbortSignal.abort() })
    const scope = { projectId: 'p', databaseId: '', namespaceId: 'kept' }
    await expect(engine.reset(scope, context)).rejects.toMatchObject({ code: 'CANCELLED' })
    expect(await countBy(engine, 'kept', 'v')).toBe(entities)
    await engine.close()
  })
})

test.each<[string, ResetScope]>([
  ['a namespace', { projectId: 'p', databaseId: '', namespaceId: 'gone' }],
  ['everything', {}],
])('a reset of %s gives the disk back', async (_, scope) => {
  const dir = newFolder()
  const engine = await openEngine({ dir })
  const noise = Buffer.alloc(50_000)
  for (let id = 1; id <= 600; id++) {
    for (let i = 0; i < noise.length; i += 4) noise.writeUInt32LE(Math.imul(id * 65_537 + i, 0x9e37_79b1) >>> 0, i)
    const key = encodeKey(keyOf('gone', id))
    const properties = encodeProperties(
      new Map([['blob', { type: 'blob', value: Buffer.from(noise), excludeFromIndexes: true }]]),
    )
    const entity = Buffer.concat([Buffer.from([0x0a, key.length]), key, properties])
    await engine
      .database('p')
      .commit(engine.context(), { mode: 'nonTransactional', mutations: [{ operation: 'insert', entity }] })
  }
  const before = bytesIn(dir)
  expect(before).toBeGreaterThan(600 * noise.length)
  await engine.reset(scope)
  await engine.tidy()
  expect(bytesIn(dir)).toBeLessThan(before / 3)
  await engine.close()
})

function bytesIn(dir: string): number {
  let bytes = 0
  for (const name of readdirSync(dir, { recursive: true })) {
    bytes += statSync(join(dir, String(name)), { throwIfNoEntry: false })?.size ?? 0
  }
  return bytes
}
