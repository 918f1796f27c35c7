/**
 * Rows of one table in words, page by page in either direction, for the inspector. The cost grows with the rows of the answer.
 *
 *   scope ──▶ ranges of the table ──▶ cut by from, after, until, before ──▶ a page of the first rows, or with `before` of the last ones
 *
 * TR1  Pages that continue from `next` or `previous` contain every row of the scope once, in row key order.   table-rows.test.ts
 */
import type { RequestContext } from '../../context.ts'
import { fromHex, hexOf } from '../../encoding/bytes.ts'
import { rootKindPrefix } from '../../encoding/key-codec.ts'
import { encodeText } from '../../encoding/ordered.ts'
import { prettyRowKey } from '../../encoding/pretty.ts'
import { invalidArgument } from '../../errors.ts'
import type { PartitionScope } from '../../model/key.ts'
import { type KeyRange, type KvReader, type KvRow, type RowKey, type RowKv, rowsFrom } from '../../storage/kv.ts'
import { compositeCodes } from '../../tables/entities-by-composite-property.ts'
import { isOf, overlap, rowAfter, rowsOf } from '../../tables/rows.ts'
import type { TableId } from '../../tables/table.ts'
import type { Tablet } from '../tablets/tablet.ts'
import { ReportPage } from './report-page.ts'
import type { TableReport } from './reports.ts'
import { cellInWords, shortened } from './row-words.ts'

/** A part of a table; without a project all of it. IdSequences and Metadata have no namespaces: a row belongs to a database. */
export interface TableScope extends PartitionScope {
  /** In Entities and Log the kind of the root. */
  readonly kind?: string | undefined
  /** In EntitiesByPropertyAsc and EntitiesByPropertyDesc. */
  readonly property?: string | undefined
}

/** Row keys are hexadecimal. */
export interface TableRowsOptions extends TableScope {
  /** 1 to 1,000, default 100. */
  readonly limit?: number | undefined
  /** Lower bound, inclusive. */
  readonly from?: string | undefined
  /** Lower bound, exclusive: `next` of the page before. */
  readonly after?: string | undefined
  /** Upper bound, exclusive. */
  readonly until?: string | undefined
  /** Upper bound, exclusive; selects the last rows of the range instead of the first. */
  readonly before?: string | undefined
  /** Maximum length of the words of a row, and of its value; default: unlimited. */
  readonly words?: number | undefined
}

export interface TableRowsParts {
  readonly kv: RowKv
  tabletsBetween(table: TableId, from: string, through: string): readonly Tablet[]
}

const limitDefault = 100
const limitMax = 1000

export async function tableRows(
  { kv, tabletsBetween }: TableRowsParts,
  table: TableId,
  options: TableRowsOptions,
  context: RequestContext,
): Promise<TableReport> {
  const { limit = limitDefault, words } = options
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax)
    throw invalidArgument(`limit is 1 to ${limitMax}, not ${limit}`)
  const isReverse = options.before !== undefined
  const scope = await rangesInScope(kv, table, options)
  const bounds = boundsOf(table, options)
  const ranges = scope.flatMap((range) => overlap(range, ...bounds) ?? [])
  const page = new ReportPage(context)
  const rows: TableReport['rows'][number][] = []
  const keys: RowKey[] = []
  let isWhole = true
  for await (const found of rowsIn(kv, isReverse ? ranges.reverse() : ranges, isReverse, limit + 1)) {
    isWhole = rows.length < limit && !page.isFull
    if (!isWhole) break
    const row = rowInWords(found, words)
    rows.push(row)
    keys.push(found.key)
    await page.add(row.row, row.rowKey, row.value)
  }
  const last = isWhole ? undefined : rows.at(-1)
  if (isReverse) {
    rows.reverse()
    keys.reverse()
  }
  const [start] = scope
  return {
    table,
    rows,
    ...(last === undefined ? {} : { [isReverse ? 'previous' : 'next']: last.rowKey }),
    ...(options.projectId === undefined || start === undefined ? {} : { start: hexOf(start.start) }),
    tablets: tabletsBetween(table, keys[0] ?? '', keys.at(-1) ?? '').map(({ id, server, start }) => ({
      id,
      server,
      start: hexOf(start),
    })),
  }
}

function rowInWords({ key, value }: KvRow, words: number | undefined): TableReport['rows'][number] {
  return {
    row: shortened(prettyRowKey(key, value), words),
    rowKey: hexOf(key),
    value: cellInWords(key, value, words),
  }
}

/** Rows may have a megabyte, so only a few are read at a time. */
const rowsAtOnce = 16

async function* rowsIn(
  kv: RowKv,
  ranges: readonly KeyRange[],
  isReverse: boolean,
  expect: number,
): AsyncGenerator<KvRow> {
  for (const range of ranges) {
    let rest = range
    while (rest.start < rest.end) {
      // If rows are made on demand: those of one index at a time, as far as needed.
      const part = kv.indexWithin === undefined ? rest : await kv.indexWithin(rest, isReverse)
      if (part === undefined) break
      yield* rowsFrom(kv.scan(part, { reverse: isReverse, expect: Math.min(expect, rowsAtOnce) }), rowsAtOnce)
      rest = isReverse ? { start: rest.start, end: part.start } : { start: part.end, end: rest.end }
    }
  }
}

/** @throws INVALID_ARGUMENT for a row key of another table */
function boundsOf(table: TableId, { from, after, until, before }: TableRowsOptions): readonly KeyRange[] {
  const all = rowsOf(table)
  const rowOf = (name: string, hex: string): RowKey => {
    if (!/^\s*([0-9a-f]{2}\s*)*$/i.test(hex)) throw invalidArgument(`${name} is a row key in hexadecimal, not "${hex}"`)
    const row = fromHex(hex)
    if (!isOf(table, row)) throw invalidArgument(`${name}: ${hex} is not a row key of ${table}`)
    return row
  }
  const bounds: KeyRange[] = []
  if (from !== undefined) bounds.push({ ...all, start: rowOf('from', from) })
  if (after !== undefined) bounds.push({ ...all, start: rowAfter(rowOf('after', after)) })
  if (until !== undefined) bounds.push({ ...all, end: rowOf('until', until) })
  if (before !== undefined) bounds.push({ ...all, end: rowOf('before', before) })
  return bounds
}

/** The ranges of a scope in a table, in row key order. @throws INVALID_ARGUMENT for a scope that the table does not have */
async function rangesInScope(kv: KvReader, table: TableId, scope: TableScope): Promise<readonly KeyRange[]> {
  const { projectId, databaseId = '', namespaceId, kind, property } = scope
  const isWithin = scope.databaseId !== undefined || namespaceId !== undefined || kind !== undefined
  if (projectId === undefined) {
    if (isWithin) throw invalidArgument('the project of the database, namespace or kind is missing')
    return [rowsOf(table)]
  }
  const isOfDatabase = table === 'IdSequences' || table === 'Metadata'
  const isByProperty = table === 'EntitiesByPropertyAsc' || table === 'EntitiesByPropertyDesc'
  if (property !== undefined && (kind === undefined || !isByProperty)) {
    throw invalidArgument('property is of a kind, in EntitiesByPropertyAsc and EntitiesByPropertyDesc')
  }
  const database = encodeText(projectId) + (isWithin ? encodeText(databaseId) : '')
  if (isOfDatabase || (namespaceId === undefined && kind === undefined)) return [rowsOf(table, database)]
  const place = encodeText(namespaceId ?? '')
  if (table === 'EntitiesByCompositeProperty') {
    const kindCode = kind === undefined ? '' : encodeText(kind)
    return (await compositeCodes(kv, database)).map((index) => rowsOf(table, index + place + kindCode))
  }
  if (kind === undefined) return [rowsOf(table, database + place)]
  const isByPath = table === 'Entities' || table === 'Log'
  const kindCode = isByPath ? rootKindPrefix(kind) : encodeText(kind)
  return [rowsOf(table, database + place + kindCode + (property === undefined ? '' : encodeText(property)))]
}
