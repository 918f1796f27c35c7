/**
 * Rows that are made while they are written (kv.ts): for stores that take them so, and as a list for those who want one.
 */
import { byteString } from '../encoding/bytes.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { BatchWrite, Kv, MadeRows, RowKey, WriteGroup } from './kv.ts'

const none: readonly BatchWrite[] = []

/** The rows as writes; with `wants` only those whose beginnings it wants. */
export function listOf(rows: MadeRows | undefined, wants?: (head: RowKey) => boolean): readonly BatchWrite[] {
  if (rows === undefined) return none
  const list: BatchWrite[] = []
  rows.each((key, value) => list.push({ key: byteString(key), value }), wants)
  return list
}

/** All writes of a group in one list. */
export function allOf({ writes, rows }: WriteGroup): readonly BatchWrite[] {
  return rows === undefined ? writes : writes.concat(listOf(rows))
}

/** Writes a group in one batch. */
export function writeGroup(kv: Kv, group: WriteGroup): MaybePromise<void> {
  const { writes, rows } = group
  return rows !== undefined && kv.batchWith !== undefined ? kv.batchWith(writes, rows) : kv.batch(allOf(group))
}
