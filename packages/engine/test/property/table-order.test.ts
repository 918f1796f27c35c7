/** Laws of the tables' row layouts: order, ranges, and parse(build(x)) = x. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { invert } from '../../src/encoding/bytes.ts'
import type { IndexEntry } from '../../src/encoding/index-entries.ts'
import { databaseCode, keyCodes, partitionCode, pathCode, pathPrefix } from '../../src/encoding/key-codec.ts'
import { valueCode } from '../../src/encoding/value-codec.ts'
import { typeBytes } from '../../src/encoding/value-types.ts'
import type { CompositeIndex } from '../../src/model/index-definition.ts'
import { type Key, kindOf } from '../../src/model/key.ts'
import type { IndexableValue } from '../../src/model/value.ts'
import type { KeyRange } from '../../src/storage/kv.ts'
import { entityRowKeyOf, parseEntityRowKey } from '../../src/tables/entities.ts'
import {
  columnCode,
  columnsOf,
  compositeIndexRange,
  compositePrefix,
  countCompositeRows,
  isKeyDescending,
  parseCompositeRowKey,
} from '../../src/tables/entities-by-composite-property.ts'
import { kindPrefix, parseEntitiesByKindRowKey } from '../../src/tables/entities-by-kind.ts'
import { parsePropertyRowKey, propertyPrefix } from '../../src/tables/entities-by-property.ts'
import { prefixRange, rowsOf } from '../../src/tables/rows.ts'
import { rowsOfEntries, type TableRow } from '../../src/testing/row-list.ts'
import { anyKeys, fewValues, indexableValues, indexDefinitions, keys, names } from '../support/arbitraries.ts'
import { compareKeys, comparePartitions, compareUtf8, compareValues } from './model-order.ts'
import { compareText } from './order-laws.ts'

const isIn = (range: KeyRange, rowKey: string): boolean => range.start <= rowKey && rowKey < range.end

const isUnder = (key: Key, ancestor: Key): boolean =>
  key.path.length >= ancestor.path.length &&
  compareKeys({ partition: key.partition, path: key.path.slice(0, ancestor.path.length) }, ancestor) === 0

const entryOf = (property: string, value: IndexableValue, multi = false): IndexEntry => ({
  property,
  valueCode: valueCode(value),
  type: typeBytes[value.type],
  multi,
})

/** The row of a key, or of a key and an entry, in one table. */
function rowIn(table: TableRow['table'], key: Key, ...entries: readonly IndexEntry[]): string {
  return rowsOfEntries(keyCodes(key), entries).find((row) => row.table === table)?.key ?? ''
}

describe('Entities', () => {
  test('rows stand in key order and parse to their keys', () => {
    fc.assert(
      fc.property(anyKeys, anyKeys, (a, b) => {
        expect(compareText(entityRowKeyOf(a), entityRowKeyOf(b))).toBe(Math.sign(compareKeys(a, b)))
        expect(parseEntityRowKey(entityRowKeyOf(a))).toEqual(a)
      }),
    )
  })

  test('the ranges hold exactly the subtree, partition and database', () => {
    fc.assert(
      fc.property(keys, keys, (key, other) => {
        const row = entityRowKeyOf(key)
        const partition = partitionCode(other.partition)
        const samePartition = comparePartitions(key.partition, other.partition) === 0
        const all = rowsOf('Entities', partition)
        expect(isIn(prefixRange(all.start + pathPrefix(other.path)), row)).toBe(samePartition && isUnder(key, other))
        expect(isIn(all, row)).toBe(samePartition)
        const { projectId, databaseId } = other.partition
        expect(isIn(rowsOf('Entities', databaseCode(projectId, databaseId)), row)).toBe(
          key.partition.projectId === projectId && key.partition.databaseId === databaseId,
        )
      }),
      { numRuns: runs(99) },
    )
  })
})

describe('EntitiesByKind', () => {
  test('rows stand by partition, kind and key, and parse to their keys', () => {
    fc.assert(
      fc.property(anyKeys, anyKeys, (a, b) => {
        const [rowA, rowB] = [rowIn('EntitiesByKind', a), rowIn('EntitiesByKind', b)]
        const order =
          comparePartitions(a.partition, b.partition) || compareUtf8(kindOf(a), kindOf(b)) || compareKeys(a, b)
        expect(compareText(rowA, rowB)).toBe(Math.sign(order))
        expect(parseEntitiesByKindRowKey(rowA)).toEqual(a)
        const prefix = kindPrefix(partitionCode(a.partition), kindOf(a))
        expect(rowA).toBe(prefix + pathCode(a.path))
      }),
    )
  })

  test('the ranges hold exactly the kind, and of it what is under an ancestor', () => {
    fc.assert(
      fc.property(keys, keys, (key, other) => {
        const row = rowIn('EntitiesByKind', key)
        const prefix = kindPrefix(partitionCode(other.partition), kindOf(key))
        const samePartition = comparePartitions(key.partition, other.partition) === 0
        expect(isIn(prefixRange(prefix), row)).toBe(samePartition)
        expect(isIn(prefixRange(prefix + pathPrefix(other.path)), row)).toBe(samePartition && isUnder(key, other))
        expect(isIn(prefixRange(kindPrefix(partitionCode(key.partition), `${kindOf(key)}a`)), row)).toBe(false)
      }),
      { numRuns: runs(99) },
    )
  })
})

describe('EntitiesByPropertyAsc and Desc', () => {
  const rowsA = fc.tuple(keys, names, indexableValues)

  test('ascending rows stand by partition, kind, property, value and key', () => {
    fc.assert(
      fc.property(rowsA, rowsA, ([keyA, nameA, valueA], [keyB, nameB, valueB]) => {
        const order =
          comparePartitions(keyA.partition, keyB.partition) ||
          compareUtf8(kindOf(keyA), kindOf(keyB)) ||
          compareUtf8(nameA, nameB) ||
          compareValues(valueA, valueB) ||
          compareKeys(keyA, keyB)
        const rowA = rowIn('EntitiesByPropertyAsc', keyA, entryOf(nameA, valueA))
        const rowB = rowIn('EntitiesByPropertyAsc', keyB, entryOf(nameB, valueB))
        expect(compareText(rowA, rowB)).toBe(Math.sign(order))
      }),
      { numRuns: runs(99) },
    )
  })

  test('descending rows stand by falling value, and by rising key among equal values', () => {
    fc.assert(
      fc.property(rowsA, rowsA, ([keyA, name, valueA], [keyB, , valueB]) => {
        const order =
          comparePartitions(keyA.partition, keyB.partition) ||
          compareUtf8(kindOf(keyA), kindOf(keyB)) ||
          -compareValues(valueA, valueB) ||
          compareKeys(keyA, keyB)
        const rowA = rowIn('EntitiesByPropertyDesc', keyA, entryOf(name, valueA))
        const rowB = rowIn('EntitiesByPropertyDesc', keyB, entryOf(name, valueB))
        expect(compareText(rowA, rowB)).toBe(Math.sign(order))
      }),
      { numRuns: runs(99) },
    )
  })

  test('rows parse to what they were built from, wholly and by their prefix', () => {
    fc.assert(
      fc.property(fc.tuple(anyKeys, names, indexableValues), ([key, property, value]) => {
        const entry = entryOf(property, value)
        const whole = { key, property, valueCode: entry.valueCode }
        const partition = partitionCode(key.partition)

        const asc = rowIn('EntitiesByPropertyAsc', key, entry)
        const ascPrefix = propertyPrefix('EntitiesByPropertyAsc', partition, kindOf(key), property)
        expect(parsePropertyRowKey(asc)).toEqual(whole)
        expect(asc).toBe(ascPrefix + entry.valueCode + pathCode(key.path))

        const desc = rowIn('EntitiesByPropertyDesc', key, entry)
        const descPrefix = propertyPrefix('EntitiesByPropertyDesc', partition, kindOf(key), property)
        expect(parsePropertyRowKey(desc)).toEqual(whole)
        expect(desc).toBe(descPrefix + invert(entry.valueCode) + pathCode(key.path))
      }),
    )
  })

  test('the rows with one value are one range, in both tables', () => {
    fc.assert(
      fc.property(keys, fewValues, fewValues, (key, value, asked) => {
        const partition = partitionCode(key.partition)
        const equal = compareValues(value, asked) === 0
        const asc = rowIn('EntitiesByPropertyAsc', key, entryOf('v', value))
        const ascPrefix = propertyPrefix('EntitiesByPropertyAsc', partition, kindOf(key), 'v')
        expect(isIn(prefixRange(ascPrefix + valueCode(asked)), asc)).toBe(equal)
        const desc = rowIn('EntitiesByPropertyDesc', key, entryOf('v', value))
        const descPrefix = propertyPrefix('EntitiesByPropertyDesc', partition, kindOf(key), 'v')
        expect(isIn(prefixRange(descPrefix + invert(valueCode(asked))), desc)).toBe(equal)
      }),
      { numRuns: runs(201) },
    )
  })
})

describe('EntitiesByCompositeProperty', () => {
  const indexes: fc.Arbitrary<CompositeIndex> = fc
    .tuple(indexDefinitions, fc.constantFrom(1n, 2n, 300n))
    .map(([definition, id]) => ({ ...definition, id }))

  /** Keys of the two kinds that {@link indexDefinitions} speaks of. */
  const indexedKeys = fc
    .tuple(keys, fc.constantFrom('A', 'B'))
    .map(([key, kind]): Key => ({ ...key, path: [...key.path.slice(0, -1), { kind, id: 1n }] }))

  /** Entries of up to three properties, some with several values, some with none. */
  const entryLists: fc.Arbitrary<IndexEntry[]> = fc
    .record({
      a: fc.uniqueArray(fewValues, { maxLength: 3, selector: valueCode }),
      b: fc.uniqueArray(fewValues, { maxLength: 2, selector: valueCode }),
      ab: fc.uniqueArray(indexableValues, { minLength: 1, maxLength: 2, selector: valueCode }),
    })
    .map((byName) =>
      Object.entries(byName).flatMap(([name, own]) => own.map((value) => entryOf(name, value, own.length > 1))),
    )

  const rowsIn = (index: CompositeIndex, key: Key, entries: readonly IndexEntry[]): TableRow[] =>
    rowsOfEntries(keyCodes(key), entries, [index]).filter(({ table }) => table === 'EntitiesByCompositeProperty')

  test('an entity has one row for each combination of its values and each ancestor, and they can be counted', () => {
    fc.assert(
      fc.property(indexes, indexedKeys, entryLists, (index, key, entries) => {
        const rows = rowsIn(index, key, entries)
        const counts = columnsOf(index).map(({ name }) => entries.filter((entry) => entry.property === name).length)
        const combinations = counts.reduce((product, count) => product * count, 1)
        const expected = kindOf(key) === index.kind ? combinations * (index.ancestor ? key.path.length : 1) : 0
        expect(rows).toHaveLength(expected)
        expect(new Set(rows.map((row) => row.key)).size).toBe(expected)
        expect(countCompositeRows(index, keyCodes(key), entries)).toBe(expected)
      }),
      { numRuns: runs(60) },
    )
  })

  test('rows parse to their key, an ancestor of it, and values with their types', () => {
    fc.assert(
      fc.property(indexes, indexedKeys, entryLists, (index, key, entries) => {
        for (const { key: rowKey, value } of rowsIn(index, key, entries)) {
          const row = parseCompositeRowKey(index, rowKey)
          expect(row.key).toEqual(key)
          expect(row.ancestor).toEqual(index.ancestor ? key.path.slice(0, row.ancestor?.length) : undefined)
          const found = columnsOf(index).map(({ name }, i) =>
            entries.find((entry) => entry.property === name && entry.valueCode === row.valueCodes[i]),
          )
          expect([...value]).toEqual(found.map((entry) => entry && entry.type + (entry.multi ? 0x80 : 0)))
        }
      }),
    )
  })

  test('rows stand by ancestor, by the columns in their directions, then by key', () => {
    fc.assert(
      fc.property(indexes, fc.array(fc.tuple(indexedKeys, entryLists), { maxLength: 4 }), (index, entities) => {
        const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
        const rowKeys = entities
          .flatMap(([key, entries]) => rowsIn(index, { ...key, partition }, entries))
          .map((row) => row.key)
        const parsed = rowKeys.map((rowKey) => parseCompositeRowKey(index, rowKey))
        for (const [i, a] of parsed.entries()) {
          for (const [j, b] of parsed.entries()) {
            let order = index.ancestor
              ? compareKeys({ partition, path: a.ancestor ?? [] }, { partition, path: b.ancestor ?? [] })
              : 0
            for (const [column, { direction }] of columnsOf(index).entries()) {
              const [x = '', y = ''] = [a.valueCodes[column], b.valueCodes[column]]
              order ||= direction === 'descending' ? compareText(y, x) : compareText(x, y)
            }
            order ||= isKeyDescending(index) ? compareKeys(b.key, a.key) : compareKeys(a.key, b.key)
            expect(compareText(rowKeys[i] ?? '', rowKeys[j] ?? '')).toBe(Math.sign(order))
          }
        }
      }),
      { numRuns: runs(21) },
    )
  })

  test('the range of an ancestor and a first value holds exactly the rows that have both', () => {
    fc.assert(
      fc.property(indexes, indexedKeys, entryLists, fewValues, fc.nat(3), (index, key, entries, asked, depth) => {
        const column = columnsOf(index)[0]
        fc.pre(column !== undefined)
        const ancestor = key.path.slice(0, 1 + (depth % key.path.length))
        const prefix = compositePrefix(index, key.partition) + (index.ancestor ? pathCode(ancestor) : '')
        const range = prefixRange(prefix + columnCode(column, valueCode(asked)))
        const { projectId, databaseId } = key.partition
        const all = compositeIndexRange(index, databaseCode(projectId, databaseId))
        for (const { key: rowKey } of rowsIn(index, key, entries)) {
          const row = parseCompositeRowKey(index, rowKey)
          const sameAncestor = row.ancestor === undefined || row.ancestor.length === ancestor.length
          expect(isIn(range, rowKey)).toBe(sameAncestor && row.valueCodes[0] === valueCode(asked))
          expect(isIn(all, rowKey)).toBe(true)
          expect(
            isIn(compositeIndexRange({ ...index, id: index.id + 1n }, databaseCode(projectId, databaseId)), rowKey),
          ).toBe(false)
        }
      }),
    )
  })
})
