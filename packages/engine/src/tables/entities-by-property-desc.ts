/**
 * EntitiesByPropertyDesc: the rows of EntitiesByPropertyAsc by descending value; rows of one value still by ascending key.
 *
 *   D partition text(kind) text(property) ~value path   → one byte, as in EntitiesByPropertyAsc
 *
 * Keys ascend in both tables, so this order is not the reverse of the ascending one and needs a table of its own.
 *
 * T4  Rows of a kind and property are in the order of (value descending, key ascending). test/property/table-order.test.ts
 *
 * Known: the layout of the ascending table with inverted values.
 */
import { invert } from '../encoding/bytes.ts'
import { decodePartition, decodePath } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { decodeText, encodeText } from '../encoding/ordered.ts'
import { skipInvertedValue } from '../encoding/value-codec.ts'
import { invariant } from '../invariant.ts'
import type { RowKey } from '../storage/kv.ts'
import type { PropertyRow } from './entities-by-property-asc.ts'

/** Prefix of the rows of a kind; the text of a property follows. */
export function propertyDescHead(partitionCode: string, kindCode: string): RowKey {
  return keySpaces.EntitiesByPropertyDesc + partitionCode + kindCode
}

/** Prefix of the rows of a kind and property; an inverted value code and a path code follow. */
export function propertyDescPrefix(partitionCode: string, kind: string, property: string): RowKey {
  return propertyDescHead(partitionCode, encodeText(kind)) + encodeText(property)
}

/**
 * @param prefix - made by {@link propertyDescPrefix}
 * @param valueCode - in ascending form
 */
export function propertyDescRowKey(prefix: RowKey, valueCode: string, pathCode: string): RowKey {
  return prefix + invert(valueCode) + pathCode
}

/** Throws InvariantError for rows of other tables. */
export function parseEntitiesByPropertyDescRowKey(rowKey: RowKey): PropertyRow {
  invariant(rowKey.startsWith(keySpaces.EntitiesByPropertyDesc), 'T4: not a row of EntitiesByPropertyDesc')
  const partition = decodePartition(rowKey, 1)
  const kind = decodeText(rowKey, partition.next)
  const property = decodeText(rowKey, kind.next)
  const valueEnd = skipInvertedValue(rowKey, property.next)
  const { path, next } = decodePath(rowKey, valueEnd)
  invariant(next === rowKey.length, 'T4: a property row goes on after its path')
  invariant(path[path.length - 1]?.kind === kind.value, 'T4: the kind of the row is that of its path')
  return {
    key: { partition: partition.value, path },
    property: property.value,
    valueCode: invert(rowKey.slice(property.next, valueEnd)),
  }
}
