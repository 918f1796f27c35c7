/**
 * Row keys and key ranges in words: table › project › namespace › kind › property › value › key. Any bytes are accepted,
 * without errors; an open end is the empty string.
 */
import { hexOf } from '../../encoding/bytes.ts'
import { rowKeyParts } from '../../encoding/pretty.ts'
import type { RowKey } from '../../storage/kv.ts'
import type { TableId } from '../../tables/table.ts'

const separator = ' › '

/** `Entities › p › ToDo:1` */
export function rowKeyWords(table: TableId, rowKey: RowKey | undefined): string {
  if (rowKey === undefined || rowKey === '') return ''
  return [table, ...(readableParts(rowKey) ?? [hexOf(rowKey)])].join(separator)
}

/** The parts of the row key, or of the key just before it. */
function readableParts(rowKey: RowKey): readonly string[] | undefined {
  return rowKeyParts(rowKey) ?? (rowKey.endsWith('\0') ? rowKeyParts(rowKey.slice(0, -1)) : undefined)
}

/** Project and database, namespace ('' is the default one), kind and the rest, as far as the row key has them. */
export function rowKeyLevels(table: TableId, rowKey: RowKey): readonly string[] {
  const parts = rowKey === '' ? undefined : readableParts(rowKey)
  if (parts === undefined) return rowKey === '' ? [] : [hexOf(rowKey)]
  const [project = '', ...others] = parts
  const database = others[0]?.startsWith('db=') ? [project, others.shift()].join(', ') : project
  const namespace = others[0]?.startsWith('ns=') ? (others.shift() ?? '').slice(3) : ''
  const index = others[0]?.startsWith('index ') ? [others.shift()] : []
  const first = others[0] ?? ''
  if (table === 'IdSequences' || table === 'Metadata') return [database, '', '', others.join(separator)]
  const kind = /^("(?:[^"\\]|\\.)*"|[^"]*?)(?::(?:"|-?\d+(?:\/|$)).*)?$/.exec(first)?.[1] ?? first
  const rest = first === kind ? others.slice(1) : others
  return [database, namespace, kind, [...index, ...rest].join(separator)]
}

export function rowKeyHex(rowKey: RowKey | undefined): string {
  return rowKey === undefined || rowKey === '' ? '' : hexOf(rowKey, '')
}

export function rangeLabel(table: TableId, start: RowKey, end: RowKey | undefined): string {
  const from = start === '' ? undefined : rowKeyParts(start)
  const to = end === undefined ? undefined : rowKeyParts(end)
  if (from === undefined && to === undefined) return table
  if (from === undefined) return `${table}${separator}… to ${(to ?? []).join(separator)}`
  if (to === undefined) return `${table}${separator}${from.join(separator)} …`
  let common = 0
  while (common < from.length && common < to.length && from[common] === to[common]) common++
  const shared = from.slice(0, common)
  const [first, last] = [from.slice(common).join(separator), to.slice(common).join(separator)]
  return [table, ...shared, `${first} … ${last}`].join(separator)
}
