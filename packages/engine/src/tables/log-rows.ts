/**
 * Row keys of the commit log and its pending markers.
 *
 *   L <group> <commitVersion>   → LogRecord (log-record.ts)   append-only, trimmed by age and bytes (retention.ts)
 *   P <group> <commitVersion>   → empty                       from commit to the end of milestone B
 *
 * A group is its partition code and the path code of its root. A commitVersion is 8 bytes, big-endian, so that a group's
 * records are adjacent and in the order of their commits.
 *
 * Known: one log per entity group ("Megastore"). Ours: this layout.
 */
import { rootPath, skipPartition, skipPath } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { decodeUint64, encodeUint64, skipText } from '../encoding/ordered.ts'
import type { RowKey } from '../storage/kv.ts'

const versionBytes = 8

/** Partition code and path code of the root entity, which name an entity group. */
export type GroupCode = string

/** The group of an entity: that of User:"ada"/ToDo:1 is User:"ada". */
export function groupOf(partition: string, path: string): GroupCode {
  return partition + rootPath(path)
}

export function logRowKey(group: GroupCode, version: bigint): RowKey {
  return keySpaces.Log + group + encodeUint64(version)
}

export function pendingRowKey(group: GroupCode, version: bigint): RowKey {
  return keySpaces.Pending + group + encodeUint64(version)
}

export interface LogPosition {
  readonly group: GroupCode
  /** Partition code of the group. */
  readonly partition: string
  /** Code of project and database. */
  readonly database: string
  readonly version: bigint
}

/** The row key by which tablets count: a pending marker counts for the tablet of its record. */
export function rowInTablet(rowKey: RowKey): RowKey {
  return rowKey.startsWith(keySpaces.Pending) ? keySpaces.Log + rowKey.slice(keySpaces.Pending.length) : rowKey
}

export function groupOfLogRow(rowKey: RowKey): GroupCode {
  return rowKey.slice(1, -versionBytes)
}

/** The commitVersion of a log or pending row: its last eight bytes. */
export function versionOfLogRow(rowKey: RowKey): bigint {
  return decodeUint64(rowKey, rowKey.length - versionBytes)
}

/** @throws InvariantError if the row is neither of the log nor pending */
export function parseLogRowKey(rowKey: RowKey): LogPosition {
  const partitionEnd = skipPartition(rowKey, 1)
  const groupEnd = skipPath(rowKey, partitionEnd)
  return {
    group: rowKey.slice(1, groupEnd),
    partition: rowKey.slice(1, partitionEnd),
    database: rowKey.slice(1, skipText(rowKey, skipText(rowKey, 1))),
    version: decodeUint64(rowKey, groupEnd),
  }
}
