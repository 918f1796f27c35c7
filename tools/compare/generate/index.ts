/** The areas from which cases come, and how a run is shared out among them. */
import fc from 'fast-check'
import type { Row } from '../../../packages/gateway/test/contract/errors/row.ts'
import { sections } from '../../../packages/gateway/test/contract/errors/sections.ts'
import type { Case, Mode } from '../case.ts'
import { commitCases, valueCases } from './commits.ts'
import { gqlCases } from './gql.ts'
import { batchCases, queryCases } from './queries.ts'
import { aggregationCases, idCases, lookupCases, metadataCases } from './reads.ts'
import { transactionCases } from './transactions.ts'

/** Bytes that are no message at all, and a project that HTTP takes from its path, cannot be said here. */
const isSayable = ({ notOverHttp, input }: Row): boolean => notOverHttp === undefined && !input.includes('surrogate')

/** Each case is sent to one database of a project of its own, so the rows about databases are left out. */
const rows = sections.flatMap(([title, ofSection]) => (title === 'databases' ? [] : ofSection))

/** The requests of the table of errors, one by one; only the codes of their answers are compared. */
export const rowCases: readonly Case[] = rows.filter(isSayable).map((row) => ({
  steps: [
    {
      method: row.method,
      request: typeof row.request === 'function' || Buffer.isBuffer(row.request) ? {} : row.request,
    },
  ],
  row,
}))

/** The place where requests come from; `--area` chooses one. */
export type Area = keyof ReturnType<typeof areasOf>

export interface AreaCases {
  /** Part of the cases of a run; absent: every case of `all`, in each run. */
  readonly share?: number
  readonly cases: fc.Arbitrary<Case>
  readonly all?: readonly Case[]
}

/** Writes come first: the legacy emulator keeps the composite indexes that queries of other projects asked for. */
export function areasOf(mode: Mode) {
  return {
    rows: { cases: fc.constantFrom(...rowCases), all: rowCases },
    values: { share: 12, cases: valueCases },
    commits: { share: 16, cases: commitCases(mode) },
    transactions: { share: 12, cases: transactionCases(mode) },
    ids: { share: 3, cases: idCases },
    lookups: { share: 8, cases: lookupCases },
    queries: { share: 28, cases: queryCases(mode) },
    batches: { share: 2, cases: batchCases },
    aggregations: { share: mode === 'legacy' ? 1 : 10, cases: aggregationCases(mode) },
    gql: { share: 12, cases: gqlCases(mode) },
    metadata: { share: 5, cases: metadataCases },
  } satisfies Record<string, AreaCases>
}
