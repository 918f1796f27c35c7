/** Entity groups, changes and cells in words, for the inspector's reports and the feed of commits. */
import { hexOf } from '../../encoding/bytes.ts'
import { decodeProperties } from '../../encoding/entity-codec.ts'
import { decodePath, splitKeyCode } from '../../encoding/key-codec.ts'
import { prettyPath, prettyValue } from '../../encoding/pretty.ts'
import { isMulti, typeOf } from '../../encoding/value-codec.ts'
import { typeBytes } from '../../encoding/value-types.ts'
import { decodeLogRecord, type EntityChange } from '../../log/log-record.ts'
import type { RowKey } from '../../storage/kv.ts'
import { decodeImage } from '../../tables/entities.ts'
import { tableOfRow } from '../../tables/entity-rows.ts'
import { decodeCounter } from '../../tables/id-sequences.ts'
import type { GroupCode } from '../../tables/log-rows.ts'
import { isOf } from '../../tables/rows.ts'

/** `User:"ada"`, from a group code. */
export function groupInWords(group: GroupCode): string {
  return prettyPath(decodePath(splitKeyCode(group).path, 0).path)
}

/** The time of a commit, ISO 8601. */
export function committedAt(version: bigint): string {
  return new Date(Number(version / 1000n)).toISOString()
}

/** Larger cells are not decoded if only the first words are wanted. */
const wholeCellMax = 16 * 1024

/** @param max - length of the words; default: unlimited */
export function changeInWords({ path, after }: EntityChange, max?: number): string {
  const name = prettyPath(decodePath(path, 0).path)
  if (after === undefined) return shortened(`delete ${name}`, max)
  if (isTooLarge(after, max)) return shortened(`put ${name}, ${after.length} bytes`, max)
  return shortened(`put ${name} ${propertiesInWords(decodeImage(after).properties)}`, max)
}

function isTooLarge(cell: Uint8Array, max: number | undefined): boolean {
  return max !== undefined && cell.length > wholeCellMax
}

export function shortened(text: string, max: number = Number.POSITIVE_INFINITY): string {
  return text.length > max ? `${text.slice(0, max)}…` : text
}

/** `{owner: "ada", priority: 5}` */
export function propertiesInWords(properties: Uint8Array): string {
  const words = [...decodeProperties(properties)].map(([name, value]) => {
    return `${name}: ${prettyValue(value)}${value.excludeFromIndexes ? ' (not indexed)' : ''}`
  })
  return `{${words.join(', ')}}`
}

function typeName(typeByte: number): string {
  const type = typeOf(typeByte)
  return Object.entries(typeBytes).find(([, byte]) => byte === type)?.[0] ?? `type ${type}`
}

/** @param max - length of the words; default: unlimited */
export function cellInWords(row: RowKey, cell: Uint8Array, max?: number): string {
  return isTooLarge(cell, max) ? `${cell.length} bytes` : shortened(wholeCellInWords(row, cell), max)
}

function wholeCellInWords(row: RowKey, cell: Uint8Array): string {
  switch (tableOfRow(row)) {
    case 'Entities': {
      const { version, properties } = decodeImage(cell)
      return `version ${version}, ${propertiesInWords(properties)}`
    }
    case 'IdSequences':
      return `next ${decodeCounter(cell)}`
    case 'Log':
      if (isOf('Pending', row)) return 'marker'
      return decodeLogRecord(cell)
        .changes.map((change) => changeInWords(change))
        .join('; ')
    case 'Metadata':
      return hexOf(cell)
    default:
      // The cell of an index row has a byte per column: the original type, and whether the entity has several such rows.
      return [...cell].map((byte) => typeName(byte) + (isMulti(byte) ? ', one of several' : '')).join('; ')
  }
}
