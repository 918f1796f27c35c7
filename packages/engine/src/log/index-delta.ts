/**
 * What a change of one entity means for the index tables: rows(after) − rows(before) to write, the reverse to delete.
 *
 * A row in both with an equal cell is left alone, so an update touches only the rows of changed properties.
 */
import { type IndexOptions, indexEntries } from '../encoding/index-entries.ts'
import type { IndexEntry } from '../encoding/index-entry.ts'
import type { KeyCodes } from '../encoding/key-codec.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import type { KvWrite } from '../storage/kv.ts'
import { propertiesOfImage } from '../tables/entities.ts'
import { indexRowDifference, indexRowsOf, type RowDifference } from '../tables/rows.ts'
import { type ScatterStyle, scatterOf } from '../tables/scatter.ts'
import type { TableRow } from '../tables/table.ts'

/** What decides which index rows an entity has. */
export interface IndexRules {
  readonly indexes: readonly CompositeIndex[]
  readonly indexOptions: StoredIndexOptions
}

/** What a database decides once, at its first write: its index rows would go stale if it changed. */
export interface StoredIndexOptions extends IndexOptions {
  /** Which entities have a `__scatter__` value; absent = none. */
  readonly scatter?: ScatterStyle
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

/** Appends the index writes of one entity's change to `writes`. */
export function addIndexDelta(states: EntityStates, rules: IndexRules, writes: KvWrite[]): void {
  const { puts, deletes } = indexDeltaOf(states, rules)
  for (const row of puts) writes.push({ key: row.rowKey, value: row.value })
  for (const row of deletes) writes.push({ key: row.rowKey, value: undefined })
}

function indexDeltaOf({ codes, before, after, afterEntries }: EntityStates, rules: IndexRules): RowDifference {
  if (before === undefined) return { puts: indexRowsOfCell(codes, after, rules, afterEntries), deletes: noRows }
  if (after === undefined) return { puts: noRows, deletes: indexRowsOfCell(codes, before, rules) }
  const entriesBefore = indexEntries(propertiesOfImage(before), rules.indexOptions)
  const entriesAfter = afterEntries ?? indexEntries(propertiesOfImage(after), rules.indexOptions)
  return indexRowDifference(codes, entriesBefore, entriesAfter, rules.indexes)
}
