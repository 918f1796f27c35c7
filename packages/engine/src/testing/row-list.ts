/** Rows of entities as lists, for tests. */
import type { IndexEntry } from '../encoding/index-entries.ts'
import type { KeyCodes } from '../encoding/key-codec.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import type { RowKey } from '../storage/kv.ts'
import { encodeImage } from '../tables/entities.ts'
import {
  type EntityDelta,
  handRows,
  type IndexRules,
  type RowChange as ProducedRow,
  tableOfRow,
} from '../tables/entity-rows.ts'
import type { StoredIndexOptions } from '../tables/scatter.ts'
import type { TableId } from '../tables/table.ts'

export interface TableRow {
  readonly table: TableId
  readonly key: RowKey
  readonly value: Uint8Array
}

export interface RowChange extends ProducedRow {
  readonly table: TableId
}

export function changesOf(delta: EntityDelta, rules: IndexRules): RowChange[] {
  const changes: RowChange[] = []
  const write = (key: RowKey, value: Uint8Array | undefined, wasThere: boolean): void => {
    changes.push({ table: tableOfRow(key), key, value, wasThere })
  }
  handRows(delta, rules, { write })
  return changes
}

export function rowsOfCell(
  codes: KeyCodes,
  after: Uint8Array | undefined,
  indexes: readonly CompositeIndex[] = [],
  indexOptions: StoredIndexOptions = {},
): TableRow[] {
  return rowsIn(changesOf({ codes, before: undefined, after }, { indexes, indexOptions }))
}

function rowsIn(changes: readonly RowChange[]): TableRow[] {
  return changes.flatMap(({ table, key, value }) => (value === undefined ? [] : [{ table, key, value }]))
}

export function rowsOfEntries(
  codes: KeyCodes,
  afterEntries: readonly IndexEntry[],
  indexes: readonly CompositeIndex[] = [],
): TableRow[] {
  const after = encodeImage({ version: 1n, createTime: 1n, updateTime: 1n, properties: new Uint8Array(0) })
  const changes = changesOf({ codes, before: undefined, after, afterEntries }, { indexes, indexOptions: {} })
  return rowsIn(changes).filter(({ table }) => table !== 'Entities')
}
