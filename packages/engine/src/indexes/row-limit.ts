/**
 * The limit on the bytes of an entity's rows in composite indexes. An index over several arrays has a row for each
 * combination of their elements: three arrays of 100 make a million rows ("exploding index").
 *
 * Known: the limit. Ours: it counts the bytes of row keys and cells.
 */
import { type IndexEntry, indexEntries } from '../encoding/index-entries.ts'
import { ancestorPrefixes, decodePath, type KeyCodes, pathEnd } from '../encoding/key-codec.ts'
import { prettyPath } from '../encoding/pretty.ts'
import { invalidArgument } from '../errors.ts'
import { limits } from '../limits.ts'
import { type CompositeIndex, formatIndex } from '../model/index-definition.ts'
import { propertiesOfImage } from '../tables/entities.ts'
import { columnsOf, countCompositeRows } from '../tables/entities-by-composite-property.ts'
import type { EntityDelta, IndexRules } from '../tables/entity-rows.ts'

/** @throws INVALID_ARGUMENT if the change makes too many bytes of rows; it names the entity, and the index with most of them */
export function checkCompositeRows(
  { codes, after, afterEntries }: EntityDelta,
  { indexes, indexOptions }: IndexRules,
): void {
  if (after === undefined || indexes.length === 0) return
  const entries = afterEntries ?? indexEntries(propertiesOfImage(after), indexOptions)
  let bytes = 0
  let largest = { bytes: 0, words: '', rows: 0 }
  for (const index of indexes) {
    const rows = countCompositeRows(index, codes, entries)
    if (rows === 0) continue
    const own = rows * meanRowBytes(index, codes, entries)
    bytes += own
    if (own > largest.bytes) largest = { bytes: own, words: formatIndex(index), rows }
  }
  if (bytes <= limits.compositeIndexRowsBytesMax) return
  throw invalidArgument(
    `${prettyPath(decodePath(codes.path, 0).path)} would have ${Math.round(bytes)} bytes of rows in composite indexes, at most ` +
      `${limits.compositeIndexRowsBytesMax} are allowed; ${largest.words} alone has ${largest.rows} rows of it: shorten the ` +
      'arrays, exclude one from indexes, or do without the index',
  )
}

function meanRowBytes(index: CompositeIndex, codes: KeyCodes, entries: readonly IndexEntry[]): number {
  const columns = columnsOf(index)
  let bytes = 1 + codes.partition.length + 8 + codes.kind.length + codes.path.length + columns.length
  if (index.ancestor) bytes += mean(ancestorPrefixes(codes.path).map((prefix) => prefix.length + pathEnd.length))
  for (const { name } of columns) {
    bytes += mean(entries.filter(({ property }) => property === name).map(({ valueCode }) => valueCode.length))
  }
  return bytes
}

function mean(lengths: readonly number[]): number {
  return lengths.reduce((sum, length) => sum + length, 0) / lengths.length
}
