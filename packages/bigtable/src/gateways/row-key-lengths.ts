/**
 * A check of a commit's row keys before the commit: a key that is too long for the store could never be written after the commit point.
 *
 * RK1  No record has a row whose key is longer than rowKeyBytesMax.                                             row-key-lengths.test.ts
 */
import { invalidArgument } from '@sixtables/engine'
import { decodePath, type EntityRows, prettyPath, type RowKey, RowProducer, tableOfRow } from '@sixtables/engine/store'
import { rowKeyBytesMax } from '../row-store/row-store.ts'

/** More than enough for the parts of a row key besides path and properties. */
const otherBytes = 256

/** @throws INVALID_ARGUMENT with the entity, and what to shorten */
export function checkRowKeys(rows: EntityRows): void {
  const { codes, after } = rows
  // A row key has the path, in an index with ancestors twice, and each property at most once; encoding at most doubles the bytes.
  const propertyBytes = Math.max(after?.length ?? 0, rows.before?.length ?? 0)
  if (2 * (codes.path.length + propertyBytes) + codes.partition.length + otherBytes <= rowKeyBytesMax) return
  const producer = new RowProducer({ write: (key) => check(key, rows) })
  producer.entity(rows)
  producer.indexRows(rows)
}

function check(key: RowKey, { codes }: EntityRows): void {
  if (key.length <= rowKeyBytesMax) return
  const table = tableOfRow(key)
  const remedy =
    table === 'Entities' || table === 'EntitiesByKind'
      ? 'use shorter names in the key'
      : 'shorten the indexed value or the key, or exclude the property from indexes'
  const path = prettyPath(decodePath(codes.path, 0).path)
  throw invalidArgument(
    `${path.length > 100 ? `${path.slice(0, 100)}…` : path} needs a row key of ${key.length} bytes in ${table}, and the store takes at ` +
      `most ${rowKeyBytesMax}: ${remedy}`,
  )
}
