/**
 * EntitiesByKind: one row per entity, all of a kind together.
 *
 *   K partition text(kind) path   → empty
 *
 * The rows of a kind are in key order; those under an ancestor are one range. test/property/table-order.test.ts
 *
 * Known: app, kind and entity key in the row name, no cells.
 */
import { skipPartition } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { decodeText, encodeText } from '../encoding/ordered.ts'
import { RowReader } from '../encoding/row-reader.ts'
import { invariant } from '../invariant.ts'
import type { Key } from '../model/key.ts'
import type { RowKey } from '../storage/kv.ts'

/** The value of every row; empty, so it is safe to share. */
export const emptyValue: Uint8Array = new Uint8Array(0)

/** Prefix of the rows of a kind; a path code follows. */
export function kindHead(partitionCode: string, kindCode: string): RowKey {
  return keySpaces.EntitiesByKind + partitionCode + kindCode
}

/** {@link kindHead} from the name of the kind. */
export function kindPrefix(partitionCode: string, kind: string): RowKey {
  return kindHead(partitionCode, encodeText(kind))
}

export function kindOfRow(rowKey: RowKey): string {
  return decodeText(rowKey, skipPartition(rowKey, 1)).value
}

export function partitionOfKindRow(rowKey: RowKey): string {
  return rowKey.slice(1, skipPartition(rowKey, 1))
}

/** Throws InvariantError for rows of other tables. */
export function parseEntitiesByKindRowKey(rowKey: RowKey): Key {
  invariant(rowKey.startsWith(keySpaces.EntitiesByKind), 'not a row of EntitiesByKind')
  const row = new RowReader(rowKey)
  const partition = row.partition()
  const kind = row.text()
  const path = row.lastPath()
  invariant(path[path.length - 1]?.kind === kind, 'the kind of the row is that of its path')
  return { partition, path }
}
