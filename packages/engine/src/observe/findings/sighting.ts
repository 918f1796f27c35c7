/** A pattern that was seen, as its file reports it; findings.ts adds kinds, instants and advice. */
import { hexOf } from '../../encoding/bytes.ts'
import type { Key } from '../../model/key.ts'
import type { RowKey } from '../../storage/kv.ts'
import type { EntityRows } from '../../tables/entity-rows.ts'
import { prefixRange } from '../../tables/ranges.ts'
import type { TableId } from '../../tables/table.ts'
import type { FindingKind, FindingPlace } from '../tablets/report.ts'

export interface Sighting {
  readonly kind: FindingKind
  readonly subject: string
  readonly words: string
  readonly evidence: readonly string[]
  /** 0 to 1. */
  readonly share: number
  /** Grows with every event that shows the pattern: by it one knows when it was seen last. */
  readonly count: number
  /** Where its rows lie; absent: it is not of one key range. */
  readonly place?: FindingPlace | undefined
}

/** The rows of a table that begin with a prefix: one row, or those of a kind, a property or a value. */
export function rowsAt(table: TableId, prefix: RowKey): FindingPlace {
  const { start, end } = prefixRange(prefix)
  return rowsBetween(table, start, end)
}

/** @param end - the first row key that is no longer among them */
export function rowsBetween(table: TableId, start: RowKey, end: RowKey): FindingPlace {
  return { table, startHex: hexOf(start, ''), endHex: hexOf(end, '') }
}

/** A change of an entity that was looked at, and how many entities it stands for. */
export interface PickedChange {
  /** Code of the partition. */
  readonly partition: string
  readonly change: EntityRows
  readonly standsFor: number
}

/** A key that was looked up, and how many keys it stands for. */
export interface PickedKey {
  readonly key: Key
  readonly standsFor: number
}

/** One pattern, or some that need the same facts. */
export interface Pattern {
  sightings(): readonly Sighting[]
  clear(): void
}

/** A count, or what samples of it add up to. */
export interface Estimate {
  readonly count: number
  readonly isSampled: boolean
}

export const nothing: Estimate = { count: 0, isSampled: false }

/** A count of items that each stand for so many. */
export function standingFor(count: number): Estimate {
  return { count, isSampled: count !== 1 }
}

export function sumOf(one: Estimate, other: Estimate): Estimate {
  return { count: one.count + other.count, isSampled: one.isSampled || other.isSampled }
}

/** `1,234`; of an estimate `about 1,200`. */
export function countInWords({ count, isSampled }: Estimate): string {
  const number = isSampled ? Number(count.toPrecision(2)) : Math.round(count)
  return `${isSampled ? 'about ' : ''}${number.toLocaleString('en-US')}`
}

/** `93 %` */
export function percentOf(share: number): string {
  return `${Math.round(share * 100)} %`
}
