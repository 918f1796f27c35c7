/**
 * An entity → its rows in all tables: pure functions that apply, the index builder, the checker and the inspector share.
 *
 * An entity has one row in Entities and one in EntitiesByKind; for each index entry one in either property table; and in
 * EntitiesByCompositeProperty what the definitions of its kind say. A change of an entity is the difference of two such
 * lists. The Entities row stands apart, because apply writes it first (milestone A) and the index rows then (milestone B).
 *
 * R1  Rows follow from key, index entries, definitions and scatter value alone; equal arguments give equal rows.
 * R2  Applying rowDifference(before, after) to `before` gives `after`, and rowDifference(after, before) takes it back.
 * R3  indexRowDifference(before, after) is the rowDifference of the index rows of both.   all: test/property/rows.test.ts
 *
 * Known: which rows a put writes, and that an update writes only the rows that differ.
 */
import { invert } from '../encoding/bytes.ts'
import type { IndexEntry } from '../encoding/index-entry.ts'
import type { KeyCodes } from '../encoding/key-codec.ts'
import { keySpaceOf, keySpaces } from '../encoding/keyspace.ts'
import { encodeBytes, encodeText } from '../encoding/ordered.ts'
import { indexRowValue, typeByteOf, typeBytes } from '../encoding/value-codec.ts'
import { invariant } from '../invariant.ts'
import type { EntityImage } from '../model/entity.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import type { KeptIndexes, RowKey } from '../storage/kv.ts'
import { encodeImage, entityRowKey } from './entities.ts'
import { appendCompositeRows } from './entities-by-composite-property.ts'
import { emptyValue, entitiesByKindRowKey } from './entities-by-kind.ts'
import type { TableId, TableRow } from './table.ts'

/** A list that rows are appended to. */
export type AnyRows = { push(...rows: readonly TableRow[]): unknown }

/** The hidden property by which query splitters sample keys. */
export const scatterProperty = '__scatter__'

/** The entity's row in Entities. */
export function entityRowOf(codes: KeyCodes, image: EntityImage): TableRow {
  return { table: 'Entities', key: entityRowKey(codes.partition, codes.path), value: encodeImage(image) }
}

/**
 * The entity's rows in the index tables: kind row, then property rows entry by entry, then composite rows.
 *
 * @param entries - of this entity, distinct by property and value
 * @param indexes - of the entity's database; those of other kinds give no rows
 * @param scatter - the entity's scatter value, if it has one: two more rows, as if it were a property named `__scatter__`
 */
export function indexRowsOf(
  codes: KeyCodes,
  entries: readonly IndexEntry[],
  indexes: readonly CompositeIndex[],
  scatter?: Uint8Array,
): TableRow[] {
  const rows: TableRow[] = []
  appendIndexRows(rows, codes, entries, indexes, scatter)
  return rows
}

/**
 * Appends what {@link indexRowsOf} gives to a list of rows, or of writes.
 *
 * @param kept - of the property rows only those in here; absent = all
 * @returns how many rows there are, those that are not kept included
 */
export function appendIndexRows(
  rows: AnyRows,
  codes: KeyCodes,
  entries: readonly IndexEntry[],
  indexes: readonly CompositeIndex[],
  scatter: Uint8Array | undefined,
  kept?: KeptIndexes | undefined,
): number {
  rows.push(kindRowOf(codes))
  let count = 1 + appendPropertyRows(rows, codes, entries, kept)
  if (scatter !== undefined) count += appendPropertyRows(rows, codes, [scatterEntry(scatter)], kept)
  for (const index of indexes) count += appendCompositeRows(rows, index, codes, entries)
  return count
}

function kindRowOf(codes: KeyCodes): TableRow {
  return { table: 'EntitiesByKind', key: entitiesByKindRowKey(codes), value: emptyValue }
}

/**
 * Appends two rows an entry: these are entitiesByPropertyAscRowKey and …Desc… with what all rows share made once.
 *
 * @returns how many rows there are, those that are not kept included
 */
function appendPropertyRows(
  rows: AnyRows,
  codes: KeyCodes,
  entries: readonly IndexEntry[],
  kept?: KeptIndexes | undefined,
): number {
  const count = 2 * entries.length
  if (count === 0 || kept?.size === 0) return count
  const { ascending, descending, up, down } = indexHeadsOf(codes, kept)
  if (up === undefined && down === undefined) return count
  let property: string | undefined
  let propertyCode = ''
  let isUp = true
  let isDown = true
  for (const entry of entries) {
    if (entry.property !== property) {
      property = entry.property
      propertyCode = encodeText(property)
      isUp = up === 'all' || up?.has(ascending + propertyCode) === true
      isDown = down === 'all' || down?.has(descending + propertyCode) === true
    }
    const value = indexRowValue(entry.type, entry.multi)
    const { valueCode } = entry
    const end = codes.path
    if (isUp) rows.push({ table: 'EntitiesByPropertyAsc', key: ascending + propertyCode + valueCode + end, value })
    if (isDown) {
      const inverted = invert(valueCode)
      rows.push({ table: 'EntitiesByPropertyDesc', key: descending + propertyCode + inverted + end, value })
    }
  }
  return count
}

/** What the rows of a kind begin with in both property tables, and which of its indexes are kept there. */
interface IndexHeads {
  readonly partition: string
  readonly kind: string
  readonly kept: KeptIndexes | undefined
  readonly ascending: RowKey
  readonly descending: RowKey
  readonly up: 'all' | ReadonlySet<RowKey> | undefined
  readonly down: 'all' | ReadonlySet<RowKey> | undefined
}

let newest: IndexHeads | undefined

/** Entities of one kind mostly come together: what was found for the last one is kept. */
function indexHeadsOf({ partition, kind }: KeyCodes, kept: KeptIndexes | undefined): IndexHeads {
  if (newest?.partition === partition && newest.kind === kind && newest.kept === kept) return newest
  const ascending = keySpaces.EntitiesByPropertyAsc + partition + kind
  const descending = keySpaces.EntitiesByPropertyDesc + partition + kind
  const [up, down] = kept === undefined ? (['all', 'all'] as const) : [kept.get(ascending), kept.get(descending)]
  newest = { partition, kind, kept, ascending, descending, up, down }
  return newest
}

export type PropertyTable = 'EntitiesByPropertyAsc' | 'EntitiesByPropertyDesc'

/** Of {@link indexRowsOf} the rows in one of the property tables. */
export function propertyRowsOf(table: PropertyTable, codes: KeyCodes, entries: readonly IndexEntry[]): TableRow[] {
  const head = keySpaces[table] + codes.partition + codes.kind
  return entries.map((entry) => ({
    table,
    key: head + encodeText(entry.property) + valueColumn(table, entry) + codes.path,
    value: indexRowValue(entry.type, entry.multi),
  }))
}

/** A value as it stands in the rows of a property table. */
export function valueColumn(table: PropertyTable, { valueCode }: IndexEntry): string {
  return table === 'EntitiesByPropertyAsc' ? valueCode : invert(valueCode)
}

export function scatterEntry(scatter: Uint8Array): IndexEntry {
  return { property: scatterProperty, valueCode: `\x28${encodeBytes(scatter)}`, type: typeBytes.blob, multi: false }
}

/** Everything an entity has in all tables; without an image (no such entity) nothing. */
export function rowsOf(
  codes: KeyCodes,
  image: EntityImage | undefined,
  entries: readonly IndexEntry[],
  indexes: readonly CompositeIndex[],
  scatter?: Uint8Array,
): TableRow[] {
  if (image === undefined) return []
  return [entityRowOf(codes, image), ...indexRowsOf(codes, entries, indexes, scatter)]
}

/** The table that a row is of, for a ledger; pending markers count as rows of the log. */
export function tableOfRow(rowKey: RowKey): TableId {
  const space = keySpaceOf(rowKey)
  invariant(space !== undefined, 'keyspace/S1: a row key starts with the byte of a key space')
  return space === 'Pending' ? 'Log' : space
}

export interface RowDifference {
  /** Rows that are new or have a new value. */
  readonly puts: readonly TableRow[]
  /** Rows that are gone, with the value that they had. */
  readonly deletes: readonly TableRow[]
}

export interface CountedDifference extends RowDifference {
  /** How many rows differ, those that are not kept included. */
  readonly count: number
}

/**
 * What turns the rows `before` into the rows `after`. A row key stands at most once in either list.
 *
 * @param onReplaced - told of each row in `puts` that was there before with another value
 */
export function rowDifference(
  before: readonly TableRow[],
  after: readonly TableRow[],
  onReplaced?: (old: TableRow, fresh: TableRow) => void,
): RowDifference {
  if (before.length === 0 || after.length === 0) return { puts: after, deletes: before }
  const old = new Map<string, TableRow>()
  for (const row of before) old.set(row.key, row)
  const puts: TableRow[] = []
  for (const row of after) {
    const known = old.get(row.key)
    if (known === undefined) puts.push(row)
    else {
      old.delete(row.key)
      if (!equalBytes(known.value, row.value)) {
        puts.push(row)
        onReplaced?.(known, row)
      }
    }
  }
  return { puts, deletes: [...old.values()] }
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/**
 * `rowDifference(indexRowsOf(before), indexRowsOf(after))` for two states of one entity that exists in both, with the same
 * scatter value and definitions: rows of entries that stay are never made.
 *
 * @param kept - property rows that are not in here may be left out; absent = all are wanted
 */
export function indexRowDifference(
  codes: KeyCodes,
  before: readonly IndexEntry[],
  after: readonly IndexEntry[],
  indexes: readonly CompositeIndex[],
  onReplaced?: (old: TableRow, fresh: TableRow) => void,
  kept?: KeptIndexes | undefined,
): CountedDifference {
  const gone = entriesMissingIn(after, before)
  const come = entriesMissingIn(before, after)
  const [old, fresh]: [TableRow[], TableRow[]] = [[], []]
  const touched = indexes.filter(({ properties }) =>
    properties.some(({ name }) => isOneOf(name, gone) || isOneOf(name, come)),
  )
  // Rows of different values have different keys: mostly nothing is in both lists, and nothing need be looked up.
  if (touched.length === 0 && !haveEqualValues(gone, come)) {
    const count = appendPropertyRows(old, codes, gone, kept) + appendPropertyRows(fresh, codes, come, kept)
    return { puts: fresh, deletes: old, count }
  }
  appendPropertyRows(old, codes, gone)
  appendPropertyRows(fresh, codes, come)
  for (const index of touched) {
    appendCompositeRows(old, index, codes, before)
    appendCompositeRows(fresh, index, codes, after)
  }
  const { puts, deletes } = rowDifference(old, fresh, onReplaced)
  return { puts, deletes, count: puts.length + deletes.length }
}

function isOneOf(property: string, entries: readonly IndexEntry[]): boolean {
  for (const entry of entries) if (entry.property === property) return true
  return false
}

/** Whether an entry of one list may have its rows under the keys of one of the other; long lists are not compared. */
function haveEqualValues(some: readonly IndexEntry[], others: readonly IndexEntry[]): boolean {
  if (some.length * others.length > shortListMax * shortListMax) return true
  for (const one of some) {
    for (const other of others) if (one.property === other.property && one.valueCode === other.valueCode) return true
  }
  return false
}

/** Above this a search from the place where the other list goes on is no longer short, and a map is made. */
const shortListMax = 32

/** The entries of `entries` that `others` does not have; mostly both are in one order. */
function entriesMissingIn(others: readonly IndexEntry[], entries: readonly IndexEntry[]): readonly IndexEntry[] {
  const missing: IndexEntry[] = []
  if (entries.length > shortListMax && others.length > shortListMax) {
    const known = new Set<string>()
    for (const other of others) known.add(entryName(other))
    for (const entry of entries) if (!known.has(entryName(entry))) missing.push(entry)
    return missing
  }
  let next = 0
  for (const entry of entries) {
    let found = false
    for (let tried = 0; tried < others.length && !found; tried++) {
      const other = others[next]
      next = next + 1 < others.length ? next + 1 : 0
      found = other !== undefined && isSameEntry(entry, other)
    }
    if (!found) missing.push(entry)
  }
  return missing
}

function isSameEntry(a: IndexEntry, b: IndexEntry): boolean {
  return a.property === b.property && a.valueCode === b.valueCode && a.type === b.type && a.multi === b.multi
}

function entryName(entry: IndexEntry): string {
  return `${String.fromCharCode(typeByteOf(entry.type, entry.multi))}${encodeText(entry.property)}${entry.valueCode}`
}
