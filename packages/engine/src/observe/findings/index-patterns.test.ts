import { afterEach, expect, test, vi } from 'vitest'
import { databaseCode, keyCodes } from '../../encoding/key-codec.ts'
import { encodeText } from '../../encoding/ordered.ts'
import { typeBytes } from '../../encoding/value-types.ts'
import { EntityRows, type IndexRules } from '../../tables/entity-rows.ts'
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
  return patterns.sightings().flatMap((sighting) => (sighting.kind === kind ? sighting.evidence : []))
}

test('of an entity with many values few are looked at, and all are counted', () => {
  const patterns = new IndexPatterns({ indexInWords: () => undefined })
  const change = created({ tags: 5000, updated: 1 })
  const added = vi.spyOn(OrderSample.prototype, 'add')
  patterns.noteCommitted([{ partition: codes.partition, change, standsFor: 1 }])
  expect(added.mock.calls.length).toBeLessThanOrEqual(1024)
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
  expect(patterns.sightings().map(({ subject }) => subject)).toEqual(['Task.updated'])
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
