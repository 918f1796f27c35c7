/**
 * IdSequences: one row per counter of ids; the counters of a database are one range (id-sequences.test.ts).
 *
 *   I text(project) text(database) text(scope)…   → next(8, big-endian): the first number not yet given
 *
 * The scattered counter of project p is I text("p") text("") text("scattered"); ids/id-scope.ts defines the scopes.
 *
 * Known: one row per entity-group root with the next id. Ours: any list of texts as the scope.
 */
import { databaseCode } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { encodeText } from '../encoding/ordered.ts'
import { invariant } from '../invariant.ts'
import type { RowKey } from '../storage/kv.ts'

export function idSequenceRowKey(projectId: string, databaseId: string, scope: readonly string[]): RowKey {
  let rowKey = keySpaces.IdSequences + databaseCode(projectId, databaseId)
  for (const text of scope) rowKey += encodeText(text)
  return rowKey
}

/** The value of a counter's row: a number from 0 to 2^64 - 1. */
export function encodeCounter(next: bigint): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, next)
  return bytes
}

export function decodeCounter(bytes: Uint8Array): bigint {
  invariant(bytes.length === 8, 'the value of an IdSequences row has 8 bytes')
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0)
}
