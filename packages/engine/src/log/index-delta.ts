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
import type { KvWrite, RowKey } from '../storage/kv.ts'
import { propertiesOfImage } from '../tables/entities.ts'
import { indexRowDifference, indexRowsOf, type RowDifference } from '../tables/rows.ts'
import { type StoredIndexOptions, scatterOf } from '../tables/scatter.ts'
import type { TableRow } from '../tables/table.ts'

/** What decides which index rows an entity has. */
export interface IndexRules {
  readonly indexes: readonly CompositeIndex[]
  readonly indexOptions: StoredIndexOptions
}

export interface EntityStates {
  readonly codes: KeyCodes
  /** Entities cells; `undefined` = no entity. */
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
  /** Index entries of `after`, when they are at hand. */
  readonly afterEntries?: readonly IndexEntry[] | undefined
}

const noRows: readonly TableRow[] = []

/** The index rows of one Entities cell; none without a cell. */
export function indexRowsOfCell(
  codes: KeyCodes,
  cell: Uint8Array | undefined,
  rules: IndexRules,
  entries?: readonly IndexEntry[],
): readonly TableRow[] {
  if (cell === undefined) return noRows
  const { indexes, indexOptions } = rules
  const scatter = indexOptions.scatter === undefined ? undefined : scatterOf(codes.path, indexOptions.scatter)
  return indexRowsOf(codes, entries ?? indexEntries(propertiesOfImage(cell), indexOptions), indexes, scatter)
}

/** Refuses an entity whose rows in composite indexes would be too large. @throws INVALID_ARGUMENT */
export function checkCompositeRows({ codes, after, afterEntries }: EntityStates, rules: IndexRules): void {
  if (after === undefined || rules.indexes.length === 0) return
  const entries = afterEntries ?? indexEntries(propertiesOfImage(after), rules.indexOptions)
  refuseLargeRows(codes, entries, rules.indexes)
}

/**
 * Appends the index writes of one entity's change to `writes`.
 *
 * @param onReplaced - told of rows that were there before with another value
 * @returns the index updates that a commit's answer counts: rows that come or go. A value of another type in the place of
 *   an equal one (integer 5 for the timestamp 5) goes and comes; that a property became, or is no longer, one of several
 *   values does not count, though its row is written (measured on Google's legacy emulator)
 */
export function addIndexDelta(
  states: EntityStates,
  rules: IndexRules,
  writes: KvWrite[],
  onReplaced?: (rowKey: RowKey) => void,
): number {
  let correction = 0
  const { puts, deletes } = indexDeltaOf(states, rules, (old, fresh) => {
    correction += hasSameTypes(old.value, fresh.value) ? -1 : 1
    onReplaced?.(fresh.rowKey)
  })
  for (const row of puts) writes.push({ key: row.rowKey, value: row.value })
  for (const row of deletes) writes.push({ key: row.rowKey, value: undefined })
  return puts.length + deletes.length + correction
}

/** Whether the values of two index rows differ at most in whether a property has several values. */
function hasSameTypes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => typeOf(byte) === typeOf(b[i] ?? 0))
}

function indexDeltaOf(
  { codes, before, after, afterEntries }: EntityStates,
  rules: IndexRules,
  onReplaced: (old: TableRow, fresh: TableRow) => void,
): RowDifference {
  if (before === undefined) return { puts: indexRowsOfCell(codes, after, rules, afterEntries), deletes: noRows }
  if (after === undefined) return { puts: noRows, deletes: indexRowsOfCell(codes, before, rules) }
  const entriesBefore = indexEntries(propertiesOfImage(before), rules.indexOptions)
  const entriesAfter = afterEntries ?? indexEntries(propertiesOfImage(after), rules.indexOptions)
  return indexRowDifference(codes, entriesBefore, entriesAfter, rules.indexes, onReplaced)
}
