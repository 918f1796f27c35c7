/**
 * The engine's reads, conditions and changes as filters and mutations of Bigtable.
 *
 * A family has one column, with the empty qualifier, so the cells of a family are the versions of one column. Bigtable counts in microseconds
 * and accepts whole milliseconds only, so its timestamp is the engine's times 1,000: version 5 of family `d` is the cell `d:` at 5,000.
 */
import type { Int64, WrittenTimestampRange } from '#gen/codecs.js'
import type { ReadRow } from '../client/cell-chunks.ts'
import type { Mutation, RowFilter } from '../client/table-client.ts'
import type { Cell, CellChange, Cells, Row, RowCondition, Wanted, WantedCells } from '../row-store/row-store.ts'

const noQualifier = new Uint8Array(0)

function micros(at: bigint): Int64 {
  const value = at * 1000n
  return { low: Number(BigInt.asIntN(32, value)), high: Number(BigInt.asIntN(32, value >> 32n)) }
}

function timeRange(from: bigint | undefined, until: bigint | undefined): WrittenTimestampRange {
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
  return chained([
    { familyNameRegexFilter: family },
    ...(from === undefined && until === undefined ? [] : [{ timestampRangeFilter: timeRange(from, until) }]),
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

/** A filter that passes the cells that satisfy the condition; it holds, or fails where it asks for absence, if there are any. */
export function conditionFilter({ family, at, values }: RowCondition): RowFilter {
  return chained([
    { familyNameRegexFilter: family },
    at === undefined ? { cellsPerColumnLimitFilter: 1 } : { timestampRangeFilter: timeRange(at, at + 1n) },
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
  return {
    deleteFromColumn: {
      ...column,
      ...(from === undefined && until === undefined ? {} : { timeRange: timeRange(from, until) }),
    },
  }
}

export function rowOf({ key, cells }: ReadRow): Row {
  const byFamily: Record<string, Cell[]> = {}
  for (const { family, micros, value } of cells) {
    byFamily[family] ??= []
    byFamily[family].push({ at: micros / 1000n, value })
  }
  return { key, cells: byFamily as Cells }
}
