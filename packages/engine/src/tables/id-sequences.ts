/**
 * IdSequences: one row per counter of ids; the counters of a database are one range (id-sequences.test.ts).
 *
 *   I text(project) text(database) text(scope)…   → next(8, big-endian): the first number not yet given
 *
 *   scope   scattered                                                    one per database, for all namespaces and kinds
 *           sequential  namespace  (kind "#id" | kind "=name")*  kind    one per (parent, kind), named by the parent's path
 *           storewide                                                    one for all projects; its row has an empty project
 *
 * The scattered counter of project p is I text("p") text("") text("scattered"); the scope of ToDo under User:"ada" is sequential, "",
 * "User", "=ada", "ToDo". Different parents, kinds or namespaces have different scopes (id-scope.test.ts).
 *
 * Known: one row per entity-group root with the next id; automatic ids are unique per parent and kind. Measured: Google's emulators have
 * one counter for all. Ours: one scattered counter per database, so that AllocateIds and automatic ids never collide.
 */
import { byteString, bytesOf } from '../encoding/bytes.ts'
import { databaseCode } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { decodeUint64, encodeText, encodeUint64 } from '../encoding/ordered.ts'
import { invariant } from '../invariant.ts'
import type { DatabaseName, Key } from '../model/key.ts'
import type { RowKey } from '../storage/kv.ts'

export function idSequenceRowKey(projectId: string, databaseId: string, scope: readonly string[]): RowKey {
  let rowKey = keySpaces.IdSequences + databaseCode(projectId, databaseId)
  for (const text of scope) rowKey += encodeText(text)
  return rowKey
}

/** The start of the rows of all counters of a database. */
export function rowsOfDatabase({ projectId, databaseId }: DatabaseName): string {
  return idSequenceRowKey(projectId, databaseId, [])
}

export function scatteredRowKey(projectId: string, databaseId: string): string {
  return idSequenceRowKey(projectId, databaseId, ['scattered'])
}

/** No project has an empty name, so only a reset of the whole store deletes this row. */
export const storewideRowKey: string = idSequenceRowKey('', '', ['storewide'])

/** The row of the sequential counter for the kind and parent of a key, whose own id or name does not matter. */
export function sequentialRowKey(key: Key): string {
  return sequentialRowKeys(key).at(-1) as string
}

/** {@link sequentialRowKey} for each element of the path, under the elements before it, which must be complete. */
export function sequentialRowKeys({ partition: { projectId, databaseId, namespaceId }, path }: Key): readonly string[] {
  let rowKey = idSequenceRowKey(projectId, databaseId, ['sequential', namespaceId])
  return path.map(({ kind, id, name }, at) => {
    const ofKind = rowKey + encodeText(kind)
    invariant(id !== undefined || name !== undefined || at === path.length - 1, 'an ancestor of a key is complete')
    rowKey = ofKind + encodeText(id !== undefined ? `#${id}` : `=${name}`)
    return ofKind
  })
}

/** The value of a counter's row: a number from 0 to 2^64 - 1. */
export function encodeCounter(next: bigint): Uint8Array {
  return bytesOf(encodeUint64(next))
}

export function decodeCounter(bytes: Uint8Array): bigint {
  invariant(bytes.length === 8, 'the value of an IdSequences row has 8 bytes')
  return decodeUint64(byteString(bytes), 0)
}
