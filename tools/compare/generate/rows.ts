/** The requests of the table of errors, one by one; only the codes of their answers are compared. */
import { commitRows } from '../../../packages/gateway/test/contract/errors/commits.ts'
import { keyRows } from '../../../packages/gateway/test/contract/errors/keys.ts'
import {
  aggregationRows,
  idRows,
  lookupRows,
  stateRows,
  transactionRows,
} from '../../../packages/gateway/test/contract/errors/others.ts'
import { gqlRows, queryRows } from '../../../packages/gateway/test/contract/errors/queries.ts'
import { queryLimitRows } from '../../../packages/gateway/test/contract/errors/query-limits.ts'
import type { Row } from '../../../packages/gateway/test/contract/errors/row.ts'
import { valueRows } from '../../../packages/gateway/test/contract/errors/values.ts'
import type { Case } from '../case.ts'

const rows: readonly Row[] = [
  ...keyRows,
  ...commitRows,
  ...valueRows,
  ...queryRows,
  ...queryLimitRows,
  ...gqlRows,
  ...aggregationRows,
  ...idRows,
  ...lookupRows,
  ...transactionRows,
  ...stateRows,
]

/** Bytes that are no message at all, and a project that HTTP takes from its path, cannot be said here. */
const isSayable = ({ notOverHttp, input }: Row): boolean => notOverHttp === undefined && !input.includes('surrogate')

export const rowCases: readonly Case[] = rows.filter(isSayable).map((row) => ({
  area: 'rows',
  steps: [
    {
      method: row.method,
      request: typeof row.request === 'function' || Buffer.isBuffer(row.request) ? {} : row.request,
    },
  ],
  row,
}))
