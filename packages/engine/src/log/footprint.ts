/** The rows and groups that a commit changes, for the checks against open transactions. */
import type { KeyRange, RowKey } from '../storage/kv.ts'
import type { GroupCode } from '../tables/log-rows.ts'
import type { PendingRecord } from './pending.ts'

export interface Footprint {
  /** Rows of Entities to write or delete. */
  readonly entityRows: readonly RowKey[]
  /** Index rows to write or delete; only searches by key range need them. */
  indexRows(): readonly RowKey[]
  /** Groups to write to. */
  readonly groups: readonly GroupCode[]
  /** Whole ranges to delete, for a reset. */
  readonly ranges?: readonly KeyRange[]
}

/** The footprint of a commit that changes nothing. */
export const noFootprint: Footprint = { entityRows: [], indexRows: () => [], groups: [] }

export function footprintOf(records: readonly Pick<PendingRecord, 'group' | 'changes'>[]): Footprint {
  const changes = records.flatMap((record) => record.changes)
  return {
    entityRows: changes.map(({ row }) => row),
    indexRows: () => changes.flatMap(({ indexRows }) => indexRows.map(({ key }) => key)),
    groups: records.map(({ group }) => group),
  }
}
