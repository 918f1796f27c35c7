/**
 * EntitiesByKind: one row an entity, all of a kind together.
 *
 *   K partition text(kind) path   → empty
 *
 * T2  The rows of a kind stand in key order; those under an ancestor are one range.   test/property/table-order.test.ts
 *
 * Known: app, kind and entity key in the row name, no cells.
 */
import { decodePartition, decodePath, type KeyCodes } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { decodeText, encodeText } from '../encoding/ordered.ts'
import { invariant } from '../invariant.ts'
import type { Key } from '../model/key.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'
import { type Bound, boundedRange, prefixRange } from './ranges.ts'

/** The value of every row here; nobody may change it (there is nothing to change). */
export const emptyValue: Uint8Array = new Uint8Array(0)

/** What the rows of a kind start with; a path code follows. */
export function kindPrefix(partitionCode: string, kind: string): RowKey {
  return keySpaces.EntitiesByKind + partitionCode + encodeText(kind)
}

export function entitiesByKindRowKey(codes: KeyCodes): RowKey {
  return keySpaces.EntitiesByKind + codes.partition + codes.kind + codes.path
}

/** The path code of a row, from the length of its {@link kindPrefix}. */
export function kindRowPathCode(rowKey: RowKey, prefixLength: number): string {
  return rowKey.slice(prefixLength)
}

/** The key in a row. Throws InvariantError for other rows. */
export function parseEntitiesByKindRowKey(rowKey: RowKey): Key {
  invariant(rowKey.startsWith(keySpaces.EntitiesByKind), 'T2: not a row of EntitiesByKind')
  const partition = decodePartition(rowKey, 1)
  const kind = decodeText(rowKey, partition.next)
  const { path, next } = decodePath(rowKey, kind.next)
  invariant(next === rowKey.length, 'T2: an EntitiesByKind row goes on after its path')
  invariant(path[path.length - 1]?.kind === kind.value, 'T2: the kind of the row is that of its path')
  return { partition: partition.value, path }
}

/** The rows of a kind, optionally between two path codes. */
export function kindRange(prefix: RowKey, low?: Bound, high?: Bound): KeyRange {
  return boundedRange(prefix, low, high)
}

/** The rows of a kind that stand under an ancestor, itself included when it is of that kind. */
export function kindRangeUnder(prefix: RowKey, ancestorPathPrefix: string): KeyRange {
  return prefixRange(prefix + ancestorPathPrefix)
}
