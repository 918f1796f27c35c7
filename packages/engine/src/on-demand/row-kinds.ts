/** The kinds of rows that a store with rows on demand treats differently. */
import { prefixEnd } from '../encoding/bytes.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'

const ascending = keySpaces.EntitiesByPropertyAsc.charCodeAt(0)
const descending = keySpaces.EntitiesByPropertyDesc.charCodeAt(0)
const log = keySpaces.Log.charCodeAt(0)
const pending = keySpaces.Pending.charCodeAt(0)
const logRange: KeyRange = { start: keySpaces.Log, end: prefixEnd(keySpaces.Log) }

export function isOfProperty(key: RowKey): boolean {
  const space = key.charCodeAt(0)
  return space === ascending || space === descending
}

export function isOfLog(key: RowKey): boolean {
  return key.charCodeAt(0) === log
}

export function isOfPending(key: RowKey): boolean {
  return key.charCodeAt(0) === pending
}

/** Whether a write sets a pending marker. */
export function isMarker(key: RowKey, value: Uint8Array | undefined): boolean {
  return value !== undefined && isOfPending(key)
}

/** Whether a row can be missing from the tree until its first read. */
export function isOnDemand(key: RowKey): boolean {
  return isOfProperty(key) || isOfLog(key)
}

export function touchesLog({ start, end }: KeyRange): boolean {
  return start < logRange.end && end > logRange.start
}
