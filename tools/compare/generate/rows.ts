/** The requests of the table of errors, one by one; only the codes of their answers are compared. */
import type { Row } from '../../../packages/gateway/test/contract/errors/row.ts'
import { sections } from '../../../packages/gateway/test/contract/errors/sections.ts'
import type { Case } from '../case.ts'

/** Bytes that are no message at all, and a project that HTTP takes from its path, cannot be said here. */
const isSayable = ({ notOverHttp, input }: Row): boolean => notOverHttp === undefined && !input.includes('surrogate')

/** Each case is sent to one database of a project of its own, so the rows about databases are left out. */
const rows = sections.flatMap(([title, ofSection]) => (title === 'databases' ? [] : ofSection))

export const rowCases: readonly Case[] = rows.filter(isSayable).map((row) => ({
  steps: [
    {
      method: row.method,
      request: typeof row.request === 'function' || Buffer.isBuffer(row.request) ? {} : row.request,
    },
  ],
  row,
}))
