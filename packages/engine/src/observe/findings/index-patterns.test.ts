import { afterEach, expect, test, vi } from 'vitest'
import { entity, keyOf, property, string } from '../../../test/property/entity-messages.ts'
import { databaseCode, keyCodes } from '../../encoding/key-codec.ts'
import { encodeText } from '../../encoding/ordered.ts'
import { typeBytes } from '../../encoding/value-types.ts'
import { type Engine, openEngine } from '../../engine/engine.ts'
import { EntityRows, type IndexRules } from '../../tables/entity-rows.ts'
import { and, query, where } from '../../testing/query-world.ts'
import type { FindingKind } from './finding-kinds.ts'
import { IndexPatterns } from './index-patterns.ts'
import { OrderSample } from './order-sample.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

test('however many properties queries name, few names are kept', () => {
  const patterns = new IndexPatterns({ indexInWords: () => undefined })
  const added = vi.spyOn(Set.prototype, 'add')
  for (let i = 0; i < 2000; i++) {
    patterns.noteQuery({
      partition: { projectId: 'p', databaseId: '', namespaceId: '' },
      kind: 'Task',
      properties: [`property ${i}`],
      indexes: [],
      returned: 0,
      skipped: 0,
    })
  }
  const largest = Math.max(...(added.mock.contexts as Set<unknown>[]).map(({ size }) => size))
  added.mockRestore()
  expect(largest).toBe(512)
})

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const codes = keyCodes({ partition, path: [{ kind: 'Task', id: 1n }] })

/** A new entity with these properties, each with some values. */
function created(values: Readonly<Record<string, number>>, indexes: IndexRules['indexes'] = []): EntityRows {
  const afterEntries = Object.entries(values).flatMap(([property, count]) =>
    Array.from({ length: count }, (_, i) => {
      return { property, valueCode: `\x28${encodeText(String(i))}`, type: typeBytes.blob, multi: count > 1 }
    }),
  )
  const delta = { codes, before: undefined, after: new Uint8Array(1), afterEntries }
  return new EntityRows(delta, { indexes, indexOptions: {} })
}

function evidenceOf(patterns: IndexPatterns, kind: FindingKind): readonly string[] {
  return [...patterns.sightings()].flatMap((sighting) => (sighting.kind === kind ? sighting.evidence : []))
}

test('of an entity with many values few are looked at, and all are counted', () => {
  const patterns = new IndexPatterns({ indexInWords: () => undefined })
  const change = created({ tags: 5000, updated: 1 })
  const added = vi.spyOn(OrderSample.prototype, 'add')
  patterns.noteCommitted([{ partition: codes.partition, change, standsFor: 1 }])
  expect(added.mock.calls.flatMap(([values]) => values).length).toBeLessThanOrEqual(1024)
  const query = { partition, kind: 'Task', properties: ['updated'], indexes: [], returned: 0, skipped: 0 }
  for (let i = 0; i < 32; i++) patterns.noteQuery(query)
  expect(evidenceOf(patterns, 'needless-index')).toEqual(['5,000 of 5,001 property rows (100 %): tags'])
})

test('a value that rises is found beside many values of another property', () => {
  const patterns = new IndexPatterns({ indexInWords: () => undefined })
  const updated = (i: number) => ({
    property: 'updated',
    valueCode: `\x28${encodeText(String(i).padStart(4, '0'))}`,
    type: typeBytes.blob,
    multi: false,
  })
  const { come } = created({ tags: 2000 })
  for (let i = 0; i < 200; i++) {
    const delta = { codes, before: undefined, after: new Uint8Array(1), afterEntries: [...come, updated(i)] }
    const change = new EntityRows(delta, { indexes: [], indexOptions: {} })
    patterns.noteCommitted([{ partition: codes.partition, change, standsFor: 1 }])
  }
  expect([...patterns.sightings()].map(({ subject }) => subject)).toEqual(['Task.updated'])
})

test.each([0, 1, 3])('values in no order do not rise in a commit of 500, after %i such commits', (before) => {
  const patterns = new IndexPatterns({ indexInWords: () => undefined })
  for (let commit = 0; commit <= before; commit++) {
    const changes = Array.from({ length: 500 }, (_, i) => {
      const spread = (Math.imul(commit * 500 + i + 1, 0x9e3779b1) >>> 0) % 1_000_000
      const valueCode = `\x28${encodeText(String(spread).padStart(6, '0'))}`
      const afterEntries = [{ property: 'score', valueCode, type: typeBytes.blob, multi: false }]
      const delta = { codes, before: undefined, after: new Uint8Array(1), afterEntries }
      return {
        partition: codes.partition,
        change: new EntityRows(delta, { indexes: [], indexOptions: {} }),
        standsFor: 1,
      }
    })
    patterns.noteCommitted(changes)
  }
  expect([...patterns.sightings()]).toEqual([])
})

test('composite rows of an entity with many values are counted', () => {
  const column = (name: string) => ({ name, direction: 'ascending' as const })
  const indexes = [{ id: 7n, kind: 'Task', ancestor: false, properties: [column('tags'), column('updated')] }]
  const known = vi.fn(() => 'Task(tags, updated)')
  const patterns = new IndexPatterns({ indexInWords: known })
  const change = created({ tags: 2000, updated: 1 }, indexes)
  patterns.noteCommitted([{ partition: codes.partition, change, standsFor: 1 }])
  expect(evidenceOf(patterns, 'unread-index')).toEqual(['2,000 rows written, no query served'])
  expect(known).toHaveBeenCalledWith(databaseCode('p', ''), 7n)
})

/** An engine with 300 tasks, each with the properties `title`, `owner` and `due`. */
async function withTasks(): Promise<Engine> {
  const engine = await openEngine()
  const properties = ['title', 'owner', 'due'].map((name) => property(name, string('v')))
  const mutations = Array.from({ length: 300 }, (_, i) => {
    const key = keyOf([{ kind: 'Task', id: BigInt(i + 1) }])
    return { operation: 'upsert' as const, entity: entity(key, ...properties) }
  })
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
  return engine
}

test('a filter that contradicts itself names its properties, too', async () => {
  const engine = await withTasks()
  const late = and(where('due', '>', 'b'), where('due', '<', 'a'))
  const filter = and(where('owner', '=', 'ada'), where('title', '=', 'x'), late)
  for (let i = 0; i < 32; i++) {
    await engine.database('p').runQuery(engine.context(), { query: query({ kind: 'Task', filter }) })
  }
  expect(engine.findings().filter(({ kind }) => kind === 'needless-index')).toEqual([])
  await engine.close()
})

test('an aggregation names properties and uses indexes as a query does', async () => {
  const engine = await withTasks()
  const column = (name: string) => ({ name, direction: 'ascending' as const })
  const definition = { kind: 'Task', ancestor: false, properties: [column('owner'), column('due')] }
  await engine.createIndex(engine.database('p'), definition)
  const mutations = Array.from({ length: 300 }, (_, i) => {
    const key = keyOf([{ kind: 'Task', id: BigInt(i + 1) }])
    return {
      operation: 'upsert' as const,
      entity: entity(key, property('owner', string('o')), property('due', string('d'))),
    }
  })
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
  const owned = query({ kind: 'Task', filter: where('owner', '=', 'o'), order: ['due'] })
  const titled = query({ kind: 'Task', filter: where('title', '=', 'x') })
  for (let i = 0; i < 16; i++) {
    for (const asked of [owned, titled]) {
      const request = { query: asked, aggregations: [{ operator: 'count' as const, upTo: undefined }] }
      await engine.database('p').runAggregationQuery(engine.context(), request)
    }
  }
  const kinds = engine.findings().map(({ kind }) => kind)
  expect(kinds.filter((kind) => kind === 'needless-index' || kind === 'unread-index')).toEqual([])
  await engine.close()
})
