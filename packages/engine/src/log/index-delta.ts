/**
 * What a change of one entity means for the index tables: rows(after) − rows(before) to write, the reverse to delete.
 *
 * A row in both with an equal cell is left alone, so an update touches only the rows of changed properties.
 */
import { indexEntries } from '../encoding/index-entries.ts'
import type { IndexEntry } from '../encoding/index-entry.ts'
import type { KeyCodes } from '../encoding/key-codec.ts'
import { typeOf } from '../encoding/value-codec.ts'
import { refuseLargeRows } from '../indexes/row-limit.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import type { KeptIndexes, RowKey } from '../storage/kv.ts'
import { propertiesOfImage } from '../tables/entities.ts'
import { appendCompositeRows } from '../tables/entities-by-composite-property.ts'
import { countOfFresh, type FreshEntity } from '../tables/fresh-rows.ts'
import { type AnyRows, appendIndexRows, indexRowDifference } from '../tables/rows.ts'
import { type StoredIndexOptions, scatterOf } from '../tables/scatter.ts'
import type { TableRow, TableWrite } from '../tables/table.ts'

/** What decides which index rows an entity has. */
export interface IndexRules {
  readonly indexes: readonly CompositeIndex[]
  readonly indexOptions: StoredIndexOptions
}

export interface EntityStates {
  readonly codes: KeyCodes
  /** The entity's row in Entities. */
  readonly row: RowKey
  /** Entities cells; `undefined` = no entity. */
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
  /** Index entries of `after`, when they are at hand. */
  readonly afterEntries?: readonly IndexEntry[] | undefined
}

/** The index rows of one Entities cell; none without a cell. */
export function indexRowsOfCell(
  codes: KeyCodes,
  cell: Uint8Array | undefined,
  rules: IndexRules,
  entries?: readonly IndexEntry[],
): readonly TableRow[] {
  const rows: TableRow[] = []
  if (cell !== undefined) appendRowsOfCell(rows, codes, cell, rules, entries)
  return rows
}

function appendRowsOfCell(
  rows: AnyRows,
  codes: KeyCodes,
  cell: Uint8Array,
  { indexes, indexOptions }: IndexRules,
  entries: readonly IndexEntry[] | undefined,
  kept?: KeptIndexes | undefined,
): number {
  const scatter = indexOptions.scatter === undefined ? undefined : scatterOf(codes.path, indexOptions.scatter)
  const all = entries ?? indexEntries(propertiesOfImage(cell), indexOptions)
  return appendIndexRows(rows, codes, all, indexes, scatter, kept)
}

/** The entity that a change makes, if it was not there before and its entries are at hand. */
export function freshEntityOf(
  { codes, before, after, afterEntries }: EntityStates,
  rules: IndexRules,
): FreshEntity | undefined {
  if (before !== undefined || after === undefined || afterEntries === undefined) return undefined
  const { scatter } = rules.indexOptions
  return { codes, entries: afterEntries, scatter: scatter === undefined ? undefined : scatterOf(codes.path, scatter) }
}

/**
 * Appends the rows of a new entity that {@link FreshRows} does not make.
 *
 * @returns how many rows it has with those
 */
export function appendOtherRows(
  writes: TableWrite[],
  { codes, entries, scatter }: FreshEntity,
  rules: IndexRules,
): number {
  let count = countOfFresh({ codes, entries, scatter })
  for (const index of rules.indexes) count += appendCompositeRows(writes, index, codes, entries)
  return count
}

/** Refuses an entity whose rows in composite indexes would be too large. @throws INVALID_ARGUMENT */
export function checkCompositeRows({ codes, after, afterEntries }: Omit<EntityStates, 'row'>, rules: IndexRules): void {
  if (after === undefined || rules.indexes.length === 0) return
  const entries = afterEntries ?? indexEntries(propertiesOfImage(after), rules.indexOptions)
  refuseLargeRows(codes, entries, rules.indexes)
}

/** How much a change of an entity is to its index tables. */
export interface IndexDelta {
  /** Rows that are written or deleted, those that are not kept included. */
  readonly rows: number
  /**
   * The index updates that a commit's answer counts: rows that come or go. A value of another type in the place of an equal
   * one (integer 5 for the timestamp 5) goes and comes; that a property became, or is no longer, one of several values does
   * not count, though its row is written (measured on Google's legacy emulator).
   */
  readonly updates: number
}

/**
 * Appends the index writes of one entity's change to `writes`.
 *
 * @param onReplaced - told of rows that were there before with another value
 * @param kept - property rows that are not in here may be left out; absent = all are wanted
 */
export function addIndexDelta(
  states: Omit<EntityStates, 'row'>,
  rules: IndexRules,
  writes: TableWrite[],
  onReplaced?: ((rowKey: RowKey) => void) | undefined,
  kept?: KeptIndexes | undefined,
): IndexDelta {
  const { codes, before, after, afterEntries } = states
  if (before === undefined || after === undefined) {
    let rows = 0
    if (after !== undefined) rows = appendRowsOfCell(writes, codes, after, rules, afterEntries, kept)
    else if (before !== undefined) {
      const gone: TableRow[] = []
      rows = appendRowsOfCell(gone, codes, before, rules, undefined, kept)
      appendDeletes(writes, gone)
    }
    return { rows, updates: rows }
  }
  let correction = 0
  const replaced = (old: TableRow, fresh: TableRow): void => {
    correction += hasSameTypes(old.value, fresh.value) ? -1 : 1
    onReplaced?.(fresh.key)
  }
  const { indexes, indexOptions } = rules
  const entriesBefore = indexEntries(propertiesOfImage(before), indexOptions)
  const entriesAfter = afterEntries ?? indexEntries(propertiesOfImage(after), indexOptions)
  const { puts, deletes, count } = indexRowDifference(codes, entriesBefore, entriesAfter, indexes, replaced, kept)
  for (const row of puts) writes.push(row)
  appendDeletes(writes, deletes)
  return { rows: count, updates: count + correction }
}

function appendDeletes(writes: TableWrite[], rows: readonly TableRow[]): void {
  for (const { table, key } of rows) writes.push({ table, key, value: undefined })
}

/** Whether the values of two index rows differ at most in whether a property has several values. */
function hasSameTypes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => typeOf(byte) === typeOf(b[i] ?? 0))
}
