/** The rows and deleted rows that queries read, and their cost. */
import type { Query, QueryResult } from '@sixtables/engine'
import { integerOf } from './client.ts'
import type { Store } from './store.ts'

export interface QueryRun {
  readonly results: readonly QueryResult[]
  readonly calls: number
  readonly entityRows: number
  readonly indexRows: number
  readonly rows: number
  /** Reads that production would bill. */
  readonly billed: number
  readonly ms: number
  readonly cursor: Uint8Array
}

/**
 * Runs a query as client libraries do, in as many calls as it takes: one batch passes over 1,000 results at most and holds 300, so that 700
 * results come in three calls.
 *
 * @param rpcMs - time of the way to the service and back, for each call
 */
export async function runInFull(store: Store, query: Query, rpcMs?: number): Promise<QueryRun> {
  const results: QueryResult[] = []
  let [calls, entityRows, indexRows, billed] = [0, 0, 0, 0]
  const begun = store.nowMs
  let left = query
  for (;;) {
    if (rpcMs !== undefined) await store.sleep(rpcMs)
    const { batch, metrics } = await store.database.explainQuery(store.context(), { query: left }, { analyze: true })
    if (batch === undefined || metrics.stats === undefined) throw new Error('the query was not run')
    calls++
    results.push(...batch.results)
    entityRows += metrics.stats.documentsScanned
    indexRows += metrics.stats.indexEntriesScanned
    billed += metrics.stats.readOperations
    const cursor = batch.endCursor
    if (batch.moreResults !== 'notFinished') {
      const rows = entityRows + indexRows
      return { results, calls, entityRows, indexRows, rows, billed, ms: store.nowMs - begun, cursor }
    }
    const limit = query.limit === undefined ? {} : { limit: query.limit - results.length }
    left = { ...left, ...limit, offset: left.offset - batch.skipped, startCursor: cursor }
  }
}

export async function countOf(store: Store, query: Query): Promise<number> {
  const aggregations = [{ alias: 'all', operator: 'count', upTo: undefined }] as const
  const { values } = await store.database.runAggregationQuery(store.context(), { query, aggregations })
  return integerOf(values, 'all')
}

export interface Scanned {
  readonly rows: number
  readonly tombstones: number
  readonly ms: number
}

/**
 * The reads of some work, beside which nothing else may run, as the tablets count them: rows that it found, and deleted rows (tombstones) that its
 * scans stepped over, which are the row operations that the tablets count less the rows.
 */
export async function scanned(store: Store, work: () => Promise<void>): Promise<Scanned> {
  const { tablets } = store.engine
  let rows = 0
  const end = tablets.onSample((sample) => {
    rows += sample.rows
  })
  const [charged, begun] = [tablets.charged, store.nowMs]
  try {
    await work()
  } finally {
    end()
  }
  return { rows, tombstones: tablets.charged - charged - rows, ms: store.nowMs - begun }
}
