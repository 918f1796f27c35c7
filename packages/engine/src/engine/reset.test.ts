import { describe, expect, test } from 'vitest'
import { encodeKey, encodeProperties } from '../encoding/entity-codec.ts'
import type { Key, PartitionId } from '../model/key.ts'
import type { Query } from '../model/query.ts'
import type { Value } from '../model/value.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { AsyncKv } from '../testing/async-kv.ts'
import { FaultyKv } from '../testing/faulty-kv.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { type Engine, openEngine } from './engine.ts'
import type { ResetScope } from './reset.ts'

const partitions: readonly PartitionId[] = [
  { projectId: 'p', databaseId: '', namespaceId: '' },
  { projectId: 'p', databaseId: '', namespaceId: 'n.a-m_e' },
  { projectId: 'p', databaseId: 'other', namespaceId: '' },
  { projectId: 'q', databaseId: '', namespaceId: '' },
]
const keys: readonly Key[] = partitions.flatMap((partition) =>
  ['a', 'b'].map((name) => ({ partition, path: [{ kind: 'K', name }] })),
)

async function put(engine: Engine, key: Key): Promise<void> {
  const value: Value = { type: 'integer', value: 1n, excludeFromIndexes: false }
  const bytes = encodeKey(key)
  const entity = Buffer.concat([
    Buffer.from([0x0a, bytes.length]),
    bytes,
    encodeProperties(
      new Map([
        ['x', value],
        ['y', value],
      ]),
    ),
  ])
  const { projectId, databaseId } = key.partition
  const mutations = [{ operation: 'upsert' as const, entity }]
  await engine.database(projectId, databaseId).commit(engine.context(), { mode: 'nonTransactional', mutations })
}

async function namesIn(engine: Engine): Promise<string[]> {
  const names: string[] = []
  for (const key of keys) {
    const { projectId, databaseId, namespaceId } = key.partition
    const { found } = await engine.database(projectId, databaseId).lookup(engine.context(), { keys: [key] })
    if (found.length > 0) names.push(`${projectId}|${databaseId}|${namespaceId}`)
  }
  return names
}

const isIn = ({ projectId, databaseId, namespaceId }: PartitionId, scope: ResetScope): boolean =>
  (scope.projectId ?? projectId) === projectId &&
  (scope.databaseId ?? databaseId) === databaseId &&
  (scope.namespaceId ?? namespaceId) === namespaceId

const ascending = (name: string) => ({ name, direction: 'ascending' as const })

const nameOf = ({ projectId, databaseId, namespaceId }: PartitionId): string =>
  `${projectId}|${databaseId}|${namespaceId}`

describe('reset/X1: a reset that is cut off at any of its writes is finished by the next opening, or never began', () => {
  test.each<[string, ResetScope]>([
    ['of everything', {}],
    ['of a project', { projectId: 'p' }],
    ['of a database', { projectId: 'p', databaseId: '' }],
    ['of a namespace', { projectId: 'p', databaseId: '', namespaceId: 'n.a-m_e' }],
  ])('%s', async (_, scope) => {
    const all = keys.map(({ partition }) => nameOf(partition))
    const kept = keys.filter(({ partition }) => !isIn(partition, scope)).map(({ partition }) => nameOf(partition))
    const filled = new MemoryKv()
    const filling = await openEngine({ kv: filled })
    for (const key of keys) await put(filling, key)
    const definition = { kind: 'K', ancestor: false, properties: ['x', 'y'].map(ascending) }
    await filling.createIndex(filling.database('p'), definition)
    const rows = await filled.scan({ start: '', end: '\xff' }).next(10_000)
    const outcomes: string[] = []
    for (let atWrite = 1, isCut = true; isCut; atWrite++) {
      const inner = new MemoryKv(rows)
      const kv = new FaultyKv(new AsyncKv(inner), { kind: 'crash', atWrite })
      const engine = await openEngine({ kv })
      isCut = await engine.reset(scope).then(
        () => false,
        () => true,
      )
      const reopened = await openEngine({ kv: inner })
      expect(await reopened.check(), `cut at write ${atWrite}`).toMatchObject({ problemCount: 0 })
      const names = await namesIn(reopened)
      const isDone = names.length === kept.length
      expect(names, `cut at write ${atWrite}`).toEqual(isDone ? kept : all)
      const indexes = reopened.database('p').catalogue.all
      expect(indexes, `cut at write ${atWrite}`).toMatchObject([{ ...definition, state: 'serving' }])
      if (!isCut) expect(isDone).toBe(true)
      outcomes.push(isDone ? 'done' : 'not begun')
    }
    expect(new Set(outcomes)).toEqual(new Set(['not begun', 'done']))
    expect(outcomes.indexOf('done')).toBeGreaterThan(outcomes.lastIndexOf('not begun'))
  })
})

test.each<[string, ResetScope]>([
  ['a project', { projectId: 'p' }],
  ['a namespace', { projectId: 'p', databaseId: '', namespaceId: '' }],
])(
  'a query that comes while %s is deleted finds what there was or nothing, and leaves nothing behind',
  async (_, scope) => {
    const [key] = keys as [Key]
    const query: Query = {
      partition: key.partition,
      kind: 'K',
      projection: [],
      filter: { type: 'property', property: 'x', operator: 'equal', value: { type: 'integer', value: 1n } },
      order: [],
      distinctOn: [],
      offset: 0,
    }
    for (let turns = 0; turns < 80; turns++) {
      const engine = await openEngine({ scheduler: new VirtualClock() })
      for (const one of keys) await put(engine, one)
      const reset = engine.reset(scope)
      for (let i = 0; i < turns; i++) await Promise.resolve()
      const { results } = await engine.database('p').runQuery(engine.context(), { query })
      expect([0, 2], `after ${turns} turns`).toContain(results.length)
      await reset
      expect((await engine.database('p').runQuery(engine.context(), { query })).results).toEqual([])
      expect((await engine.check()).problems).toEqual([])
      await engine.close()
    }
  },
)
