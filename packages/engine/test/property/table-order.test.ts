/** Laws of the tables' row layouts, named entities/T1–entities-by-composite-property/T6 in tables/*.ts: order, ranges, and parse(build(x)) = x. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { IndexEntry } from '../../src/encoding/index-entry.ts'
import { databaseCode, keyCodes, partitionCode, pathCode, pathPrefix } from '../../src/encoding/key-codec.ts'
import { typeBytes, valueCode } from '../../src/encoding/value-codec.ts'
import { compareUtf8 } from '../../src/model/compare.ts'
import type { CompositeIndex } from '../../src/model/index-definition.ts'
import { compareKeys, comparePartitions, type Key, kindOf } from '../../src/model/key.ts'
import { compareValues, type IndexableValue } from '../../src/model/value.ts'
import type { KeyRange } from '../../src/storage/kv.ts'
import {
  entitiesOfDatabase,
  entitiesOfGroup,
  entitiesOfPartition,
  entitiesUnder,
  entityPathCode,
  entityRowKeyOf,
  parseEntityRowKey,
} from '../../src/tables/entities.ts'
import {
  appendCompositeRows,
  columnCode,
  columnsOf,
  compositeIndexRange,
  compositePrefix,
  compositeRange,
  countCompositeRows,
  isKeyDescending,
  parseCompositeRowKey,
  skipColumns,
  splitCompositeRowKey,
} from '../../src/tables/entities-by-composite-property.ts'
import {
  entitiesByKindRowKey,
  kindPrefix,
  kindRange,
  kindRangeUnder,
  kindRowPathCode,
  parseEntitiesByKindRowKey,
} from '../../src/tables/entities-by-kind.ts'
import {
  entitiesByPropertyAscRowKey,
  parseEntitiesByPropertyAscRowKey,
  propertyAscPathOffset,
  propertyAscPrefix,
  propertyAscRange,
  propertyAscValueRange,
  splitPropertyAscRowKey,
} from '../../src/tables/entities-by-property-asc.ts'
import {
  entitiesByPropertyDescRowKey,
  parseEntitiesByPropertyDescRowKey,
  propertyDescPathOffset,
  propertyDescPrefix,
  propertyDescRange,
  propertyDescValueRange,
  splitPropertyDescRowKey,
} from '../../src/tables/entities-by-property-desc.ts'
import type { Bound } from '../../src/tables/ranges.ts'
import type { TableRow } from '../../src/tables/table.ts'
import { anyKeys, fewValues, indexableValues, indexDefinitions, keys, names } from '../../src/testing/arbitraries.ts'
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

/** A bound of a range over values, and what it says of a value. */
interface ValueBound {
  readonly value: IndexableValue
  readonly inclusive: boolean
}

const bounds: fc.Arbitrary<ValueBound | undefined> = fc.option(
  fc.record({ value: fewValues, inclusive: fc.boolean() }),
  { nil: undefined },
)
const codeOf = (bound: ValueBound | undefined): Bound | undefined =>
  bound && { code: valueCode(bound.value), inclusive: bound.inclusive }
const isAbove = (value: IndexableValue, low: ValueBound | undefined): boolean =>
  low === undefined || compareValues(value, low.value) > (low.inclusive ? -1 : 0)
const isBelow = (value: IndexableValue, high: ValueBound | undefined): boolean =>
  high === undefined || compareValues(value, high.value) < (high.inclusive ? 1 : 0)

describe('Entities', () => {
  test('rows stand in key order and parse to their keys', () => {
    fc.assert(
      fc.property(anyKeys, anyKeys, (a, b) => {
        expect(compareText(entityRowKeyOf(a), entityRowKeyOf(b))).toBe(Math.sign(compareKeys(a, b)))
        expect(parseEntityRowKey(entityRowKeyOf(a))).toEqual(a)
        expect(entityPathCode(entityRowKeyOf(a), partitionCode(a.partition))).toBe(pathCode(a.path))
      }),
    )
  })

  test('entities/T1: the ranges hold exactly the subtree, group, partition and database', () => {
    fc.assert(
      fc.property(keys, keys, (key, other) => {
        const row = entityRowKeyOf(key)
        const partition = partitionCode(other.partition)
        const samePartition = comparePartitions(key.partition, other.partition) === 0
        const root: Key = { partition: other.partition, path: other.path.slice(0, 1) }
        expect(isIn(entitiesUnder(partition, pathPrefix(other.path)), row)).toBe(samePartition && isUnder(key, other))
        expect(isIn(entitiesOfGroup(partition, other), row)).toBe(samePartition && isUnder(key, root))
        expect(isIn(entitiesOfPartition(partition), row)).toBe(samePartition)
        const { projectId, databaseId } = other.partition
        expect(isIn(entitiesOfDatabase(databaseCode(projectId, databaseId)), row)).toBe(
          key.partition.projectId === projectId && key.partition.databaseId === databaseId,
        )
      }),
      { numRuns: 500 },
    )
  })
})

describe('EntitiesByKind', () => {
  test('rows stand by partition, kind and key, and parse to their keys', () => {
    fc.assert(
      fc.property(anyKeys, anyKeys, (a, b) => {
        const [rowA, rowB] = [entitiesByKindRowKey(keyCodes(a)), entitiesByKindRowKey(keyCodes(b))]
        const order =
          comparePartitions(a.partition, b.partition) || compareUtf8(kindOf(a), kindOf(b)) || compareKeys(a, b)
        expect(compareText(rowA, rowB)).toBe(Math.sign(order))
        expect(parseEntitiesByKindRowKey(rowA)).toEqual(a)
        const prefix = kindPrefix(partitionCode(a.partition), kindOf(a))
        expect(kindRowPathCode(rowA, prefix.length)).toBe(pathCode(a.path))
      }),
    )
  })

  test('entities-by-kind/T2: the ranges hold exactly the kind, and of it what is under an ancestor or between two keys', () => {
    fc.assert(
      fc.property(keys, keys, fc.boolean(), (key, other, inclusive) => {
        const row = entitiesByKindRowKey(keyCodes(key))
        const prefix = kindPrefix(partitionCode(other.partition), kindOf(key))
        const samePartition = comparePartitions(key.partition, other.partition) === 0
        expect(isIn(kindRange(prefix), row)).toBe(samePartition)
        expect(isIn(kindRangeUnder(prefix, pathPrefix(other.path)), row)).toBe(samePartition && isUnder(key, other))
        const bound = { code: pathCode(other.path), inclusive }
        const order = compareKeys(key, other)
        expect(isIn(kindRange(prefix, bound), row)).toBe(samePartition && (order > 0 || (inclusive && order === 0)))
        expect(isIn(kindRange(prefix, undefined, bound), row)).toBe(
          samePartition && (order < 0 || (inclusive && order === 0)),
        )
        expect(isIn(kindRange(kindPrefix(partitionCode(key.partition), `${kindOf(key)}a`)), row)).toBe(false)
      }),
      { numRuns: 500 },
    )
  })
})

describe('EntitiesByPropertyAsc and Desc', () => {
  const rowsA = fc.tuple(keys, names, indexableValues)

  test('entities-by-property-asc/T3: ascending rows stand by partition, kind, property, value and key', () => {
    fc.assert(
      fc.property(rowsA, rowsA, ([keyA, nameA, valueA], [keyB, nameB, valueB]) => {
        const order =
          comparePartitions(keyA.partition, keyB.partition) ||
          compareUtf8(kindOf(keyA), kindOf(keyB)) ||
          compareUtf8(nameA, nameB) ||
          compareValues(valueA, valueB) ||
          compareKeys(keyA, keyB)
        const rowA = entitiesByPropertyAscRowKey(keyCodes(keyA), entryOf(nameA, valueA))
        const rowB = entitiesByPropertyAscRowKey(keyCodes(keyB), entryOf(nameB, valueB))
        expect(compareText(rowA, rowB)).toBe(Math.sign(order))
      }),
      { numRuns: 500 },
    )
  })

  test('entities-by-property-desc/T4: descending rows stand by falling value, and by rising key among equal values', () => {
    fc.assert(
      fc.property(rowsA, rowsA, ([keyA, name, valueA], [keyB, , valueB]) => {
        const order =
          comparePartitions(keyA.partition, keyB.partition) ||
          compareUtf8(kindOf(keyA), kindOf(keyB)) ||
          -compareValues(valueA, valueB) ||
          compareKeys(keyA, keyB)
        const rowA = entitiesByPropertyDescRowKey(keyCodes(keyA), entryOf(name, valueA))
        const rowB = entitiesByPropertyDescRowKey(keyCodes(keyB), entryOf(name, valueB))
        expect(compareText(rowA, rowB)).toBe(Math.sign(order))
      }),
      { numRuns: 500 },
    )
  })

  test('rows parse to what they were built from, wholly and by their prefix', () => {
    fc.assert(
      fc.property(fc.tuple(anyKeys, names, indexableValues), ([key, property, value]) => {
        const entry = entryOf(property, value)
        const whole = { key, property, valueCode: entry.valueCode }
        const codes = { valueCode: entry.valueCode, pathCode: pathCode(key.path) }
        const partition = partitionCode(key.partition)

        const asc = entitiesByPropertyAscRowKey(keyCodes(key), entry)
        const ascPrefix = propertyAscPrefix(partition, kindOf(key), property)
        expect(parseEntitiesByPropertyAscRowKey(asc)).toEqual(whole)
        expect(splitPropertyAscRowKey(asc, ascPrefix.length)).toEqual(codes)
        expect(asc.slice(propertyAscPathOffset(asc, ascPrefix.length))).toBe(codes.pathCode)

        const desc = entitiesByPropertyDescRowKey(keyCodes(key), entry)
        const descPrefix = propertyDescPrefix(partition, kindOf(key), property)
        expect(parseEntitiesByPropertyDescRowKey(desc)).toEqual(whole)
        expect(splitPropertyDescRowKey(desc, descPrefix.length)).toEqual(codes)
        expect(desc.slice(propertyDescPathOffset(desc, descPrefix.length))).toBe(codes.pathCode)
      }),
    )
  })

  test('a range between two values holds exactly the rows with values between them, in both tables', () => {
    fc.assert(
      fc.property(keys, names, fewValues, bounds, bounds, (key, property, value, low, high) => {
        const expected = isAbove(value, low) && isBelow(value, high)
        const partition = partitionCode(key.partition)
        const asc = entitiesByPropertyAscRowKey(keyCodes(key), entryOf(property, value))
        const ascPrefix = propertyAscPrefix(partition, kindOf(key), property)
        expect(isIn(propertyAscRange(ascPrefix, codeOf(low), codeOf(high)), asc)).toBe(expected)
        const desc = entitiesByPropertyDescRowKey(keyCodes(key), entryOf(property, value))
        const descPrefix = propertyDescPrefix(partition, kindOf(key), property)
        expect(isIn(propertyDescRange(descPrefix, codeOf(low), codeOf(high)), desc)).toBe(expected)
      }),
      { numRuns: 1000 },
    )
  })

  test('a range of one value holds exactly its rows, between two keys if asked, in both tables', () => {
    fc.assert(
      fc.property(keys, keys, fewValues, fewValues, (key, start, value, asked) => {
        const partition = partitionCode(key.partition)
        const low = { code: pathCode(start.path), inclusive: false }
        const equal = compareValues(value, asked) === 0
        const after = compareKeys(key, { partition: key.partition, path: start.path }) > 0
        const asc = entitiesByPropertyAscRowKey(keyCodes(key), entryOf('v', value))
        const ascPrefix = propertyAscPrefix(partition, kindOf(key), 'v')
        expect(isIn(propertyAscValueRange(ascPrefix, valueCode(asked)), asc)).toBe(equal)
        expect(isIn(propertyAscValueRange(ascPrefix, valueCode(asked), low), asc)).toBe(equal && after)
        const desc = entitiesByPropertyDescRowKey(keyCodes(key), entryOf('v', value))
        const descPrefix = propertyDescPrefix(partition, kindOf(key), 'v')
        expect(isIn(propertyDescValueRange(descPrefix, valueCode(asked)), desc)).toBe(equal)
        expect(isIn(propertyDescValueRange(descPrefix, valueCode(asked), low), desc)).toBe(equal && after)
      }),
      { numRuns: 1000 },
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

  const rowsIn = (index: CompositeIndex, key: Key, entries: readonly IndexEntry[]): TableRow[] => {
    const rows: TableRow[] = []
    appendCompositeRows(rows, index, keyCodes(key), entries)
    return rows
  }

  test('entities-by-composite-property/T6: an entity has one row for each combination of its values and each ancestor, and they can be counted', () => {
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
      { numRuns: 300 },
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
          const ancestor = row.ancestor === undefined ? '' : pathCode(row.ancestor)
          const offset = compositePrefix(index, key.partition).length + ancestor.length
          const codes = { valueCodes: row.valueCodes, pathCode: pathCode(key.path) }
          expect(splitCompositeRowKey(index, rowKey, offset)).toEqual(codes)
        }
      }),
    )
  })

  test('entities-by-composite-property/T5: rows stand by ancestor, by the columns in their directions, then by key', () => {
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
      { numRuns: 100 },
    )
  })

  test('the range of an ancestor and a first value holds exactly the rows that have both', () => {
    fc.assert(
      fc.property(indexes, indexedKeys, entryLists, fewValues, fc.nat(3), (index, key, entries, asked, depth) => {
        const column = columnsOf(index)[0]
        fc.pre(column !== undefined)
        const ancestor = key.path.slice(0, 1 + (depth % key.path.length))
        const prefix = compositePrefix(index, key.partition) + (index.ancestor ? pathCode(ancestor) : '')
        const range = compositeRange(prefix + columnCode(column, valueCode(asked)))
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
          if (!sameAncestor) continue
          const first = skipColumns(columnsOf(index), rowKey, prefix.length, 0, 1)
          expect(rowKey.slice(prefix.length, first)).toBe(columnCode(column, row.valueCodes[0] ?? ''))
        }
      }),
    )
  })
})
