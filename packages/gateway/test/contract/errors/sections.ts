/** The table of answers, in the order in which it is tested and shown. */
import { commitRows } from './commits.ts'
import { databaseRows } from './databases.ts'
import { keyRows } from './keys.ts'
import { aggregationRows, idRows, lookupRows, stateRows, transactionRows } from './others.ts'
import { gqlRows, queryRows } from './queries.ts'
import { queryLimitRows } from './query-limits.ts'
import type { Row } from './row.ts'
import { valueRows } from './values.ts'

export const sections: readonly (readonly [string, readonly Row[]])[] = [
  ['keys and partitions', keyRows],
  ['databases', databaseRows],
  ['commits', commitRows],
  ['values and properties', valueRows],
  ['queries', queryRows],
  ['limits of queries', queryLimitRows],
  ['GQL', gqlRows],
  ['aggregations', aggregationRows],
  ['ids', idRows],
  ['lookups', lookupRows],
  ['transactions', transactionRows],
  ['what needs state', stateRows],
]
