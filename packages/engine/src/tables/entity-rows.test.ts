import { describe, expect, test } from 'vitest'
import { excluded, literal, type Plain, propertyBytes } from '../../test/support/plain-values.ts'
import type { IndexEntry, IndexOptions } from '../encoding/index-entries.ts'
import { keyCodes } from '../encoding/key-codec.ts'
import { prettyRowKey } from '../encoding/pretty.ts'
import { valueCode } from '../encoding/value-codec.ts'
import { typeBytes } from '../encoding/value-types.ts'
import type { EntityImage } from '../model/entity.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import type { Key, PathElement } from '../model/key.ts'
import type { IndexableValue } from '../model/value.ts'
import { changesOf, rowsOfCell, rowsOfEntries, type TableRow } from '../testing/row-list.ts'
import { encodeImage } from './entities.ts'
import { countCompositeRows } from './entities-by-composite-property.ts'
import { EntityRows, tableOfRow } from './entity-rows.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const keyOf = (...path: PathElement[]): Key => ({ partition, path })
const toDo = keyCodes(keyOf({ kind: 'ToDo', id: 1n }))
const image: EntityImage = { version: 7n, createTime: 5n, updateTime: 7n, properties: new Uint8Array(0) }

function entriesOf(values: Record<string, readonly IndexableValue[]>): IndexEntry[] {
  return Object.entries(values).flatMap(([property, own]) =>
    own.map((value) => ({ property, valueCode: valueCode(value), type: typeBytes[value.type], multi: own.length > 1 })),
  )
}

const integer = (value: bigint): IndexableValue => ({ type: 'integer', value })
const string = (value: string): IndexableValue => ({ type: 'string', value })
const inWords = (rows: readonly TableRow[]): string[] => rows.map((row) => prettyRowKey(row.key, row.value))

/** priority, due, created and owner are indexed; description is not. */
const todoEntries = entriesOf({
  priority: [integer(5n)],
  due: [{ type: 'timestamp', micros: 1_700_000_000_000_000n }],
  created: [{ type: 'timestamp', micros: 1_600_000_000_000_000n }],
  owner: [string('ada')],
})

const dueAndPriority: CompositeIndex = {
  id: 1n,
  kind: 'ToDo',
  ancestor: false,
  properties: [
    { name: 'due', direction: 'descending' },
    { name: 'priority', direction: 'descending' },
  ],
}

describe('the rows of an entity', () => {
  test('a ToDo of four indexed properties has 1 + 4 + 4 rows beside that in Entities', () => {
    expect(inWords(rowsOfEntries(toDo, todoEntries))).toEqual([
      'EntitiesByKind(p, ToDo, ToDo:1)',
      'EntitiesByPropertyAsc(p, ToDo, priority=5, ToDo:1)',
      'EntitiesByPropertyDesc(p, ToDo, priority=5, ToDo:1)',
      'EntitiesByPropertyAsc(p, ToDo, due=2023-11-14T22:13:20.000000Z, ToDo:1)',
      'EntitiesByPropertyDesc(p, ToDo, due=2023-11-14T22:13:20.000000Z, ToDo:1)',
      'EntitiesByPropertyAsc(p, ToDo, created=2020-09-13T12:26:40.000000Z, ToDo:1)',
      'EntitiesByPropertyDesc(p, ToDo, created=2020-09-13T12:26:40.000000Z, ToDo:1)',
      'EntitiesByPropertyAsc(p, ToDo, owner="ada", ToDo:1)',
      'EntitiesByPropertyDesc(p, ToDo, owner="ada", ToDo:1)',
    ])
  })

  test('with the index (due desc, priority desc) it has a tenth', () => {
    const rows = rowsOfEntries(toDo, todoEntries, [dueAndPriority])
    expect(rows).toHaveLength(10)
    expect(inWords(rows.slice(9))).toEqual([
      'EntitiesByCompositeProperty(p, index 1, ToDo, desc 2023-11-14T22:13:20.000000Z, desc 5, ToDo:1)',
    ])
  })

  test('an entity without indexed properties still has its kind row', () => {
    expect(inWords(rowsOfEntries(toDo, [], [dueAndPriority]))).toEqual(['EntitiesByKind(p, ToDo, ToDo:1)'])
  })

  test('no entity has no rows', () => {
    expect(rowsOfCell(toDo, undefined, [dueAndPriority])).toEqual([])
  })

  test('an index of another kind, or with a column that the entity lacks, gives no row', () => {
    const other = { ...dueAndPriority, kind: 'ToDoList' }
    const lacking = {
      ...dueAndPriority,
      properties: [...dueAndPriority.properties, { name: 'x', direction: 'ascending' } as const],
    }
    expect(rowsOfEntries(toDo, todoEntries, [other, lacking])).toHaveLength(9)
    expect(countCompositeRows(other, toDo, todoEntries)).toBe(0)
    expect(countCompositeRows(lacking, toDo, todoEntries)).toBe(0)
  })

  test('an index over two arrays explodes, and an ancestor index repeats its rows for every ancestor', () => {
    const index: CompositeIndex = {
      id: 2n,
      kind: 'ToDo',
      ancestor: true,
      properties: [
        { name: 'tag', direction: 'ascending' },
        { name: 'rank', direction: 'descending' },
      ],
    }
    const codes = keyCodes(keyOf({ kind: 'User', name: 'ada' }, { kind: 'ToDo', id: 1n }))
    const entries = entriesOf({ tag: [string('a'), string('b')], rank: [integer(1n), integer(2n), integer(3n)] })
    const rows = rowsOfEntries(codes, entries, [index]).filter((row) => row.table === 'EntitiesByCompositeProperty')
    expect(rows).toHaveLength(2 * 3 * 2)
    expect(countCompositeRows(index, codes, entries)).toBe(12)
    const words = inWords(rows).map((row) => row.replace(/^\w+\(p, index 2, ToDo, /, ''))
    expect(words).toContain('ancestor User:"ada", "b", desc 3, User:"ada"/ToDo:1)')
    expect(words).toContain('ancestor User:"ada"/ToDo:1, "a", desc 1, User:"ada"/ToDo:1)')
    expect(rows.every((row) => row.value[0] === 0x84 && row.value[1] === 0x81)).toBe(true)
  })

  test('a descending key ends the rows of its index, and needs no column of its own', () => {
    const index: CompositeIndex = {
      id: 3n,
      kind: 'ToDo',
      ancestor: true,
      properties: [{ name: '__key__', direction: 'descending' }],
    }
    const rows = rowsOfEntries(toDo, [], [index])
    expect(inWords(rows.slice(1))).toEqual([
      'EntitiesByCompositeProperty(p, index 3, ToDo, ancestor ToDo:1, desc ToDo:1)',
    ])
    expect(rows[1]?.value).toEqual(new Uint8Array(0))
  })

  test('a scatter value adds a row in either property table', () => {
    const sampled = keyCodes(keyOf({ kind: 'ToDo', id: 236n }))
    const words = inWords(rowsOfCell(sampled, encodeImage(image), [], { scatter: 'legacy' }))
    expect(words.slice(2)).toEqual([
      'EntitiesByPropertyAsc(p, ToDo, __scatter__=0x0116, ToDo:236)',
      'EntitiesByPropertyDesc(p, ToDo, __scatter__=0x0116, ToDo:236)',
    ])
  })
})

type Properties = { readonly [name: string]: Plain }

const codes = keyCodes(keyOf({ kind: 'K', name: 'c' }))
const cellOf = (properties: Properties | undefined): Uint8Array | undefined =>
  properties && encodeImage({ version: 1n, createTime: 1n, updateTime: 1n, properties: propertyBytes(properties) })
const second = literal({ type: 'timestamp', micros: 1_000_000n })
const blob = literal({ type: 'blob', value: Uint8Array.of(0x61) })

describe('a change', () => {
  const indexes: readonly CompositeIndex[] = [
    { id: 1n, kind: 'K', ancestor: false, properties: ['a', 'b'].map((name) => ({ name, direction: 'ascending' })) },
  ]
  const words = (before: Properties | undefined, after: Properties | undefined): string[] =>
    changesOf({ codes, before: cellOf(before), after: cellOf(after) }, { indexes, indexOptions: {} }).flatMap(
      ({ table, key, value, wasThere }) =>
        table === 'Entities'
          ? []
          : [`${value === undefined ? '-' : wasThere ? '~' : '+'} ${prettyRowKey(key, value ?? Uint8Array.of(1, 1))}`],
    )

  test('of one value touches only the rows of its property', () => {
    expect(words({ a: 1n, b: 2n, c: 3n }, { a: 4n, b: 2n, c: 3n })).toEqual([
      '+ EntitiesByPropertyAsc(p, K, a=4, K:"c")',
      '+ EntitiesByPropertyDesc(p, K, a=4, K:"c")',
      '- EntitiesByPropertyAsc(p, K, a=1, K:"c")',
      '- EntitiesByPropertyDesc(p, K, a=1, K:"c")',
      '- EntitiesByCompositeProperty(p, index 1, K, 1, 2, K:"c")',
      '+ EntitiesByCompositeProperty(p, index 1, K, 4, 2, K:"c")',
    ])
  })

  test('of nothing has no rows, and one to the equal timestamp is written over the rows of the integer', () => {
    expect(words({ a: 1n, b: 2n }, { a: 1n, b: 2n })).toEqual([])
    expect(words({ c: 1_000_000n }, { c: second })).toEqual([
      '~ EntitiesByPropertyAsc(p, K, c=1970-01-01T00:00:01.000000Z, K:"c")',
      '~ EntitiesByPropertyDesc(p, K, c=1970-01-01T00:00:01.000000Z, K:"c")',
    ])
  })
})

// Measured on Google's legacy emulator.
describe('index updates', () => {
  const rowsOf = (before: Properties | undefined, after: Properties | undefined, options: IndexOptions = {}) =>
    new EntityRows({ codes, before: cellOf(before), after: cellOf(after) }, { indexes: [], indexOptions: options })
  const updates = (...change: Parameters<typeof rowsOf>): number => rowsOf(...change).updates

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
    expect(rowsOf({ l: [1n] }, { l: [1n, 2n] })).toMatchObject({ count: 4, updates: 2 })
  })

  test('count the rows of composite indexes', () => {
    const columns = ['a', 'b'].map((name) => ({ name, direction: 'ascending' as const }))
    const indexes = [{ id: 1n, kind: 'K', ancestor: false, properties: columns }]
    const delta = { codes, before: cellOf({ a: 1n, b: [1n, 2n] }), after: cellOf({ a: 2n, b: [1n, 2n] }) }
    expect(new EntityRows(delta, { indexes, indexOptions: {} })).toMatchObject({ count: 8, updates: 8 })
    const fewer = { ...delta, after: cellOf({ a: 1n, b: 1n }) }
    // One value goes: of the other the rows, and that in the composite index, only lose a mark.
    expect(new EntityRows(fewer, { indexes, indexOptions: {} })).toMatchObject({ count: 6, updates: 3 })
  })
})

test('pending markers count as rows of the log', () => {
  expect(tableOfRow('Px')).toBe('Log')
  expect(tableOfRow('Lx')).toBe('Log')
  expect(tableOfRow('Kx')).toBe('EntitiesByKind')
  expect(() => tableOfRow('Zx')).toThrow(/byte of a key space/)
})
