import { describe, expect, test } from 'vitest'
import type { IndexEntry } from '../encoding/index-entry.ts'
import { keyCodes } from '../encoding/key-codec.ts'
import { prettyRowKey } from '../encoding/pretty.ts'
import { typeBytes, valueCode } from '../encoding/value-codec.ts'
import type { EntityImage } from '../model/entity.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import type { Key, PathElement } from '../model/key.ts'
import type { IndexableValue } from '../model/value.ts'
import { countCompositeRows } from './entities-by-composite-property.ts'
import { indexRowsOf, rowDifference, rowsOf, tableOfRow } from './rows.ts'
import type { TableRow } from './table.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const keyOf = (...path: PathElement[]): Key => ({ partition, path })
const toDo = keyCodes(keyOf({ kind: 'ToDo', id: 1n }))
const image: EntityImage = { version: 7n, createTime: 5n, updateTime: 7n, properties: Uint8Array.of(0x1a, 0) }

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
  test('a ToDo of four indexed properties has 1 + 1 + 4 + 4 rows', () => {
    expect(inWords(rowsOf(toDo, image, todoEntries, []))).toEqual([
      'Entities(p, ToDo:1)',
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

  test('with the index (due desc, priority desc) it has an eleventh', () => {
    const rows = rowsOf(toDo, image, todoEntries, [dueAndPriority])
    expect(rows).toHaveLength(11)
    expect(inWords(rows.slice(10))).toEqual([
      'EntitiesByCompositeProperty(p, index 1, ToDo, desc 2023-11-14T22:13:20.000000Z, desc 5, ToDo:1)',
    ])
  })

  test('an entity without indexed properties still has its kind row', () => {
    expect(inWords(indexRowsOf(toDo, [], [dueAndPriority]))).toEqual(['EntitiesByKind(p, ToDo, ToDo:1)'])
  })

  test('no entity has no rows', () => {
    expect(rowsOf(toDo, undefined, [], [dueAndPriority])).toEqual([])
  })

  test('an index of another kind, or with a column that the entity lacks, gives no row', () => {
    const other = { ...dueAndPriority, kind: 'ToDoList' }
    const lacking = {
      ...dueAndPriority,
      properties: [...dueAndPriority.properties, { name: 'x', direction: 'ascending' } as const],
    }
    expect(indexRowsOf(toDo, todoEntries, [other, lacking])).toHaveLength(9)
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
    const rows = indexRowsOf(codes, entries, [index]).filter((row) => row.table === 'EntitiesByCompositeProperty')
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
    const rows = indexRowsOf(toDo, [], [index])
    expect(inWords(rows.slice(1))).toEqual([
      'EntitiesByCompositeProperty(p, index 3, ToDo, ancestor ToDo:1, desc ToDo:1)',
    ])
    expect(rows[1]?.value).toEqual(new Uint8Array(0))
  })

  test('a scatter value adds a row in either property table', () => {
    const words = inWords(indexRowsOf(toDo, [], [], Uint8Array.of(0x01, 0x16)))
    expect(words.slice(1)).toEqual([
      'EntitiesByPropertyAsc(p, ToDo, __scatter__=0x0116, ToDo:1)',
      'EntitiesByPropertyDesc(p, ToDo, __scatter__=0x0116, ToDo:1)',
    ])
  })
})

describe('the difference of two states', () => {
  test('an update touches only the rows of the property that changed', () => {
    const later = entriesOf({ priority: [integer(6n)] }).concat(todoEntries.slice(1))
    const { puts, deletes } = rowDifference(
      indexRowsOf(toDo, todoEntries, [dueAndPriority]),
      indexRowsOf(toDo, later, [dueAndPriority]),
    )
    expect(inWords(puts)).toEqual([
      'EntitiesByPropertyAsc(p, ToDo, priority=6, ToDo:1)',
      'EntitiesByPropertyDesc(p, ToDo, priority=6, ToDo:1)',
      'EntitiesByCompositeProperty(p, index 1, ToDo, desc 2023-11-14T22:13:20.000000Z, desc 6, ToDo:1)',
    ])
    expect(inWords(deletes)).toEqual(inWords(puts).map((row) => row.replace(/(=|desc )6/, (_, lead) => `${lead}5`)))
  })

  test('equal states differ in nothing', () => {
    const rows = indexRowsOf(toDo, todoEntries, [dueAndPriority])
    const again = indexRowsOf(toDo, [...todoEntries], [dueAndPriority])
    expect(rowDifference(rows, again)).toEqual({ puts: [], deletes: [] })
  })

  test('an integer that becomes the equal timestamp is written again under its row key', () => {
    const before = indexRowsOf(toDo, entriesOf({ due: [integer(1n)] }), [])
    const after = indexRowsOf(toDo, entriesOf({ due: [{ type: 'timestamp', micros: 1n }] }), [])
    const { puts, deletes } = rowDifference(before, after)
    expect(puts.map((row) => row.key)).toEqual(before.slice(1).map((row) => row.key))
    expect(deletes).toEqual([])
  })

  test('an insert puts every row and a delete takes every row away', () => {
    const rows = indexRowsOf(toDo, todoEntries, [])
    expect(rowDifference([], rows)).toEqual({ puts: rows, deletes: [] })
    expect(rowDifference(rows, [])).toEqual({ puts: [], deletes: rows })
  })
})

test('pending markers count as rows of the log', () => {
  expect(tableOfRow('Px')).toBe('Log')
  expect(tableOfRow('Lx')).toBe('Log')
  expect(tableOfRow('Kx')).toBe('EntitiesByKind')
  expect(() => tableOfRow('Zx')).toThrow(/S1/)
})
