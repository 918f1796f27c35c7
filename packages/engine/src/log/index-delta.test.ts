import { describe, expect, test } from 'vitest'
import type { IndexOptions } from '../encoding/index-entries.ts'
import { keyCodes } from '../encoding/key-codec.ts'
import { encodeImage } from '../tables/entities.ts'
import type { TableWrite } from '../tables/table.ts'
import { excluded, literal, type Plain, propertyBytes } from '../testing/plain-values.ts'
import { addIndexDelta } from './index-delta.ts'

type Properties = { readonly [name: string]: Plain }

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const codes = keyCodes({ partition, path: [{ kind: 'K', name: 'c' }] })
const cellOf = (properties: Properties | undefined): Uint8Array | undefined =>
  properties && encodeImage({ version: 1n, createTime: 1n, updateTime: 1n, properties: propertyBytes(properties) })

function updates(before: Properties | undefined, after: Properties | undefined, options: IndexOptions = {}): number {
  const writes: TableWrite[] = []
  return addIndexDelta(
    { codes, before: cellOf(before), after: cellOf(after) },
    { indexes: [], indexOptions: options },
    writes,
  ).updates
}

const second = literal({ type: 'timestamp', micros: 1_000_000n })
const blob = literal({ type: 'blob', value: Uint8Array.of(0x61) })

// Measured on Google's legacy emulator.
describe('index updates', () => {
  test.each<[string, Properties, Properties, number, number, number]>([
    // before, after; updates of the creation of `before`, of the change, of the deletion of `after`
    ['nothing indexed', {}, {}, 1, 0, 1],
    ['a property more', { a: 1n }, { a: 1n, b: 1n }, 3, 2, 5],
    ['another value', { a: 1n }, { a: 2n }, 3, 4, 3],
    ['an element more', { l: [1n] }, { l: [1n, 2n] }, 3, 2, 5],
    ['an element less', { l: [1n, 2n] }, { l: [1n] }, 5, 2, 3],
    ['an element that was there', { l: [1n, 1n] }, { l: [1n] }, 3, 0, 3],
    ['a list of one', { l: 1n }, { l: [1n] }, 3, 0, 3],
    ['another order', { l: [1n, 2n] }, { l: [2n, 1n] }, 5, 0, 5],
    ['a timestamp for an equal integer', { a: 1_000_000n }, { a: second }, 3, 4, 3],
    ['a blob for an equal text', { a: 'a' }, { a: blob }, 3, 4, 3],
    ['a double for an integer', { a: 1n }, { a: 1 }, 3, 4, 3],
    ['a value that is indexed now', { a: excluded('a') }, { a: 'a' }, 1, 2, 3],
    ['what is not indexed', { a: 1n, x: excluded(1n) }, { a: 1n, x: excluded(2n) }, 3, 0, 3],
    ['leaves of an entity', {}, { e: { x: 1n, y: 2n } }, 1, 4, 5],
  ])('of %s', (_, before, after, created, changed, deleted) => {
    expect([updates(undefined, before), updates(before, after), updates(after, undefined)]).toEqual([
      created,
      changed,
      deleted,
    ])
  })

  test('of an empty array are those of null where it is indexed as null', () => {
    expect(updates(undefined, { l: [] })).toBe(1)
    expect(updates(undefined, { l: [] }, { emptyArrayAsNull: true })).toBe(3)
  })

  test('are not the rows that are written, of which some are only marked anew', () => {
    const writes: TableWrite[] = []
    const states = { codes, before: cellOf({ l: [1n] }), after: cellOf({ l: [1n, 2n] }) }
    expect(addIndexDelta(states, { indexes: [], indexOptions: {} }, writes)).toEqual({ rows: 4, updates: 2 })
    expect(writes).toHaveLength(4)
  })

  test('count the rows of composite indexes', () => {
    const columns = ['a', 'b'].map((name) => ({ name, direction: 'ascending' as const }))
    const indexes = [{ id: 1n, kind: 'K', ancestor: false, properties: columns }]
    const states = { codes, before: cellOf({ a: 1n, b: [1n, 2n] }), after: cellOf({ a: 2n, b: [1n, 2n] }) }
    expect(addIndexDelta(states, { indexes, indexOptions: {} }, [])).toEqual({ rows: 8, updates: 8 })
  })
})
