/** A pattern that was seen, as its file reports it, with its subject and figures in words; findings.ts adds instants and advice. */
import { hexOf } from '../../encoding/bytes.ts'
import { decodePath, partitionOfCode, splitKeyCode } from '../../encoding/key-codec.ts'
import { prettyPath } from '../../encoding/pretty.ts'
import type { Key, PathElement } from '../../model/key.ts'
import type { RowKey } from '../../storage/kv.ts'
import type { EntityRows } from '../../tables/entity-rows.ts'
import { prefixRange } from '../../tables/rows.ts'
import type { TableId } from '../../tables/table.ts'
import type { Finding, FindingPlace } from './finding-kinds.ts'

export interface Sighting extends Pick<Finding, 'kind' | 'subject' | 'words' | 'evidence' | 'share' | 'place'> {
  /** Grows with every event that shows the pattern; so its last growth is the last sighting. */
  readonly count: number
}

/** The rows of a table with a prefix: one row, or those of a kind, a property or a value. */
export function rowsAt(table: TableId, prefix: RowKey): FindingPlace {
  const { start, end } = prefixRange(prefix)
  return rowsBetween(table, start, end)
}

export function rowsBetween(table: TableId, start: RowKey, end: RowKey): FindingPlace {
  return { table, startHex: hexOf(start, ''), endHex: hexOf(end, '') }
}

/** A picked change of an entity, and the number of entities that it stands for. */
export interface PickedChange {
  readonly partition: string
  readonly change: EntityRows
  readonly standsFor: number
}

export interface PickedKey {
  readonly key: Key
  readonly standsFor: number
}

/** A count, exact or estimated from samples. */
export interface Estimate {
  readonly count: number
  readonly isSampled: boolean
}

export const nothing: Estimate = { count: 0, isSampled: false }

export function standingFor(count: number, rows = 1): Estimate {
  return { count: count * rows, isSampled: count !== 1 }
}

export function sumOf(one: Estimate, other: Estimate): Estimate {
  return { count: one.count + other.count, isSampled: one.isSampled || other.isSampled }
}

/** `1,234`, or for an estimate `about 1,200`. */
export function countInWords({ count, isSampled }: Estimate): string {
  const number = isSampled ? Number(count.toPrecision(2)) : Math.round(count)
  return `${isSampled ? 'about ' : ''}${number.toLocaleString('en-US')}`
}

/** The subject of a kind: partition code, then kinds from the root down, with slashes; {@link kindInWords} has its words. */
export function kindSubject(partition: string, path: readonly PathElement[]): string {
  return partition + path.map(({ kind }) => kind).join('/')
}

export function kindInWords(subject: string): string {
  const { partition, path } = splitKeyCode(subject)
  return path + placeInWords(partition)
}

/** @param code - partition code and path code */
export function keyInWords(code: string): string {
  const { partition, path } = splitKeyCode(code)
  return prettyPath(decodePath(path, 0).path) + placeInWords(partition)
}

/** ` (namespace n, database d)`; without default parts, and without the project. */
export function placeInWords(partition: string): string {
  const { namespaceId, databaseId } = partitionOfCode(partition)
  const parts = [
    ...(namespaceId === '' ? [] : [`namespace ${namespaceId}`]),
    ...(databaseId === '' ? [] : [`database ${databaseId}`]),
  ]
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}
