/**
 * EntitiesByCompositeProperty: the rows of the declared indexes.
 *
 *   C database int64(index id) text(namespace) text(kind) [ancestor's path] column… path   → one type byte per column
 *
 * A column is a value code, inverted if it is descending; `__key__` at the end is the direction of the path. An entity has a row for each
 * combination of its values: with tags = ["a", "b"] and due = 5, ToDo(tags, due) has the rows ("a", 5) and ("b", 5). An ancestor index
 * repeats them for each ancestor and the entity itself. Rows of one index, partition and ancestor are in the order of the columns, then of
 * the key (test/property/table-order.test.ts). A path starts with 01 or FE and a column with neither, so a row can be shown without
 * its definition.
 *
 * Known: index id, app, kind, ancestor, values in the index's directions, entity key. Ours: project and database first, the type bytes.
 */
import { bytesOf, invert } from '../encoding/bytes.ts'
import type { IndexEntry } from '../encoding/index-entries.ts'
import { ancestorPrefixes, databaseCode, type KeyCodes, pathEnd, pathLength } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { encodeInt64, encodeText, skipText } from '../encoding/ordered.ts'
import { RowReader } from '../encoding/row-reader.ts'
import { typeByteOf } from '../encoding/value-codec.ts'
import { getOrInsert } from '../get-or-insert.ts'
import { invariant } from '../invariant.ts'
import { andThen, type MaybePromise, runSteps } from '../maybe-promise.ts'
import type { CompositeIndex, IndexDefinition, IndexedProperty } from '../model/index-definition.ts'
import type { Key, PartitionId, PathElement } from '../model/key.ts'
import type { KeyRange, KvReader, RowKey } from '../storage/kv.ts'
import { prefixRange, rowsOf } from './rows.ts'
import { skipScan } from './skip-scan.ts'

export const keyProperty = '__key__'

/** The properties that are columns of an index: all but `__key__`. */
export function columnsOf(index: IndexDefinition): readonly IndexedProperty[] {
  const { properties } = index
  return properties[properties.length - 1]?.name === keyProperty ? properties.slice(0, -1) : properties
}

/** Whether keys descend among rows with equal columns. */
export function isKeyDescending(index: IndexDefinition): boolean {
  const last = index.properties[index.properties.length - 1]
  return last?.name === keyProperty && last.direction === 'descending'
}

/** Converts a value code to the form in a column, and back. */
export function columnCode(column: IndexedProperty, valueCode: string): string {
  return column.direction === 'descending' ? invert(valueCode) : valueCode
}

/** Prefix of the rows of an index in a partition; in an ancestor index an ancestor's path code follows. */
export function compositePrefix(index: CompositeIndex, partition: PartitionId): RowKey {
  const { projectId, databaseId, namespaceId } = partition
  return indexPrefix(index, databaseCode(projectId, databaseId)) + encodeText(namespaceId) + encodeText(index.kind)
}

function indexPrefix(index: CompositeIndex, database: string): RowKey {
  return keySpaces.EntitiesByCompositeProperty + database + encodeInt64(index.id)
}

export function compositeIndexRange(index: CompositeIndex, database: string): KeyRange {
  return prefixRange(indexPrefix(index, database))
}

/** The code of database and number of each composite index of a database that has rows. */
export function compositeCodes(kv: KvReader, database: string): MaybePromise<readonly string[]> {
  const found: string[] = []
  const jump = (row: RowKey): RowKey => {
    const index = database + encodeInt64(indexIdOf(row))
    found.push(index)
    return rowsOf('EntitiesByCompositeProperty', index).end
  }
  const scan = kv.scan(rowsOf('EntitiesByCompositeProperty', database), { expect: 1 })
  return andThen(runSteps(skipScan(scan, jump)), () => found)
}

export interface CompositeRow {
  readonly indexId: bigint
  readonly key: Key
  /** Only in an ancestor index. */
  readonly ancestor?: readonly PathElement[]
  /** One per column, in ascending form. */
  readonly valueCodes: readonly string[]
}

/** Parses a row key by its index. Throws InvariantError for rows of others. */
export function parseCompositeRowKey(index: CompositeIndex, rowKey: RowKey): CompositeRow {
  const { indexId, row, database } = headOf(rowKey)
  const partition: PartitionId = { ...database, namespaceId: row.text() }
  invariant(indexId === index.id && row.text() === index.kind, `not a row of index ${index.id}`)
  const ancestor = index.ancestor ? { ancestor: row.path() } : {}
  const valueCodes = columnsOf(index).map(({ direction }) => row.value(direction === 'descending'))
  return { indexId, ...ancestor, valueCodes, key: { partition, path: row.lastPath(isKeyDescending(index)) } }
}

export function indexIdOf(rowKey: RowKey): bigint {
  return headOf(rowKey).indexId
}

function headOf(rowKey: RowKey) {
  invariant(rowKey.startsWith(keySpaces.EntitiesByCompositeProperty), 'not a row of EntitiesByCompositeProperty')
  const row = new RowReader(rowKey)
  const database = row.database()
  return { indexId: row.int64(), row, database }
}

/** The number of rows that {@link compositeRows} gives, without making them. */
export function countCompositeRows(index: IndexDefinition, codes: KeyCodes, entries: readonly IndexEntry[]): number {
  if (codes.kind !== encodeText(index.kind)) return 0
  let count = index.ancestor ? pathLength(codes.path) : 1
  for (const column of columnsOf(index)) {
    let own = 0
    for (const entry of entries) if (entry.property === column.name) own++
    count *= own
  }
  return count
}

export function compositeRows(
  index: CompositeIndex,
  codes: KeyCodes,
  entries: readonly IndexEntry[],
  each: (key: RowKey, value: Uint8Array) => void,
): void {
  if (codes.kind !== encodeText(index.kind)) return
  const combinations = combinationsOf(columnsOf(index), entries)
  if (combinations.length === 0) return
  const namespaceAt = skipText(codes.partition, skipText(codes.partition, 0))
  const start =
    indexPrefix(index, codes.partition.slice(0, namespaceAt)) + codes.partition.slice(namespaceAt) + codes.kind
  const starts = index.ancestor ? ancestorPrefixes(codes.path).map((prefix) => start + prefix + pathEnd) : [start]
  const end = isKeyDescending(index) ? invert(codes.path) : codes.path
  for (const { code, types } of combinations) {
    const value = compositeRowValue(types)
    for (const first of starts) each(first + code + end, value)
  }
}

/** One entry chosen for each column so far: their codes, and a type byte for each. */
interface Combination {
  readonly code: string
  readonly types: string
}

/** Every choice of one entry per column; none if a column has no entry. */
function combinationsOf(columns: readonly IndexedProperty[], entries: readonly IndexEntry[]): readonly Combination[] {
  let chosen: readonly Combination[] = [{ code: '', types: '' }]
  for (const column of columns) {
    const longer: Combination[] = []
    for (const entry of entries) {
      if (entry.property !== column.name) continue
      const part = columnCode(column, entry.valueCode)
      const type = String.fromCharCode(typeByteOf(entry.type, entry.multi))
      for (const { code, types } of chosen) longer.push({ code: code + part, types: types + type })
    }
    chosen = longer
  }
  return chosen
}

/** Row values by their bytes: there are few, as most columns hold one type. */
const rowValues = new Map<string, Uint8Array>()
const rowValuesMax = 1000

/** The value of a row with these type bytes, as a shared array that must not be changed. */
function compositeRowValue(types: string): Uint8Array {
  return getOrInsert(rowValues, types, () => {
    if (rowValues.size >= rowValuesMax) rowValues.clear()
    return bytesOf(types)
  })
}
