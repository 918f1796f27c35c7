/** The areas from which cases come, and how a run is shared out among them. */
import fc from 'fast-check'
import type { Area, Case, Mode } from '../case.ts'
import { commitCases, valueCases } from './commits.ts'
import { gqlCases } from './gql.ts'
import { batchCases, queryCases } from './queries.ts'
import { aggregationCases, idCases, lookupCases, metadataCases } from './reads.ts'
import { rowCases } from './rows.ts'
import { transactionCases } from './transactions.ts'

export interface AreaCases {
  readonly area: Area
  /** Part of the cases of a run; absent: every case of `all`, in each run. */
  readonly share?: number
  readonly cases: fc.Arbitrary<Case>
  readonly all?: readonly Case[]
}

/** Writes come first: the legacy emulator keeps the composite indexes that queries of other projects asked for. */
export function areasOf(mode: Mode): readonly AreaCases[] {
  return [
    { area: 'rows', cases: fc.constantFrom(...rowCases), all: rowCases },
    { area: 'values', share: 12, cases: valueCases },
    { area: 'commits', share: 16, cases: commitCases(mode) },
    { area: 'transactions', share: 12, cases: transactionCases(mode) },
    { area: 'ids', share: 3, cases: idCases },
    { area: 'lookups', share: 8, cases: lookupCases },
    { area: 'queries', share: 28, cases: queryCases(mode) },
    { area: 'batches', share: 2, cases: batchCases },
    { area: 'aggregations', share: mode === 'legacy' ? 1 : 10, cases: aggregationCases(mode) },
    { area: 'gql', share: 12, cases: gqlCases(mode) },
    { area: 'metadata', share: 5, cases: metadataCases },
  ]
}
