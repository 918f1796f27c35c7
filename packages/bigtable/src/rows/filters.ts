/**
 * The engine's wishes, conditions and changes in the words of Bigtable: filters and mutations.
 *
 * A family has one column, of the empty qualifier, so that cells of a family are versions of one column. Timestamps are those of the
 * engine times 1,000, since Bigtable counts in microseconds and takes whole milliseconds only.
 */
import type { CellChange, Cells, Row, RowCondition, Wanted, WantedCells } from '@sixtables/engine'
import type { Int64, WrittenTimestampRange } from '#gen/codecs.js'
import type { ReadRow } from '../client/cell-chunks.ts'
import type { Mutation, RowFilter } from '../client/table-client.ts'

const noQualifier = new Uint8Array(0)

function micros(at: bigint): Int64 {
  const value = at * 1000n
  return { low: Number(BigInt.asIntN(32, value)), high: Number(BigInt.asIntN(32, value >> 32n)) }
}

function timeRange({ from, until }: { readonly from?: bigint; readonly until?: bigint }): WrittenTimestampRange {
  return {
    ...(from === undefined ? {} : { startTimestampMicros: micros(from) }),
    ...(until === undefined ? {} : { endTimestampMicros: micros(until) }),
  }
}

function chained(filters: readonly RowFilter[]): RowFilter {
  const [first] = filters
  return filters.length === 1 && first !== undefined ? first : { chain: { filters } }
}

function familyFilter({ family, from, until, newest, withoutValues }: WantedCells): RowFilter {
  const range = { ...(from === undefined ? {} : { from }), ...(until === undefined ? {} : { until }) }
  return chained([
    { familyNameRegexFilter: family },
    ...(from === undefined && until === undefined ? [] : [{ timestampRangeFilter: timeRange(range) }]),
    ...(newest === undefined ? [] : [{ cellsPerColumnLimitFilter: newest }]),
    ...(withoutValues === true ? [{ stripValueTransformer: true }] : []),
  ])
}

export function wantedFilter(wanted: Wanted): RowFilter {
  const filters = wanted.map(familyFilter)
  const [first] = filters
  if (first === undefined) return { blockAllFilter: true }
  return filters.length === 1 ? first : { interleave: { filters } }
}

/** The cells that must be there for a condition to hold or, where it wants no cell, to fail. */
export function conditionFilter({ family, at, values }: RowCondition): RowFilter {
  return chained([
    { familyNameRegexFilter: family },
    at === undefined
      ? { cellsPerColumnLimitFilter: 1 }
      : { timestampRangeFilter: timeRange({ from: at, until: at + 1n }) },
    ...(values === undefined
      ? []
      : [{ valueRangeFilter: { startValueClosed: values.start, endValueOpen: values.end } }]),
  ])
}

export function mutationOf(change: CellChange): Mutation {
  if (change.type === 'deleteRow') return { deleteFromRow: {} }
  const column = { familyName: change.family, columnQualifier: noQualifier }
  if (change.type === 'set') {
    return { setCell: { ...column, timestampMicros: micros(change.at), value: change.value } }
  }
  const { from, until } = change
  const range = { ...(from === undefined ? {} : { from }), ...(until === undefined ? {} : { until }) }
  return {
    deleteFromColumn: {
      ...column,
      ...(from === undefined && until === undefined ? {} : { timeRange: timeRange(range) }),
    },
  }
}

/** The cells of a row by family, newest first, as Bigtable answers them. */
export function rowOf({ key, cells }: ReadRow): Row {
  const byFamily: Record<string, { at: bigint; value: Uint8Array }[]> = {}
  for (const { family, micros, value } of cells) {
    const cell = { at: micros / 1000n, value }
    const known = byFamily[family]
    if (known === undefined) byFamily[family] = [cell]
    else known.push(cell)
  }
  return { key, cells: byFamily as Cells }
}
