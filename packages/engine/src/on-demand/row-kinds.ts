/** The kinds of rows that a store with rows on demand treats differently. */
import { keySpaces } from '../encoding/keyspace.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'
import { logRange } from '../tables/log-rows.ts'

const ascending = keySpaces.EntitiesByPropertyAsc.charCodeAt(0)
const descending = keySpaces.EntitiesByPropertyDesc.charCodeAt(0)
const log = keySpaces.Log.charCodeAt(0)
const pending = keySpaces.Pending.charCodeAt(0)

export function isOfProperty(key: RowKey): boolean {
  const space = key.charCodeAt(0)
  return space === ascending || space === descending
}

export function isOfLog(key: RowKey): boolean {
  return key.charCodeAt(0) === log
}

/** Whether a write sets a pending marker. */
export function isMarker(key: RowKey, value: Uint8Array | undefined): boolean {
  return value !== undefined && key.charCodeAt(0) === pending
}

/** Whether a row can be missing from the tree until its first read. */
export function isOnDemand(key: RowKey): boolean {
  return isOfProperty(key) || isOfLog(key)
}

export function touchesLog({ start, end }: KeyRange): boolean {
  return start < logRange.end && end > logRange.start
}
