/** Queries of the data API: page by page, and counts. */
import { printGql, type SelectStatement, type Statement } from '@sixtables/gateway/browser'
import type { ApiKey } from '../model/key-text.ts'
import { type Page, type PageRequest, pageMax } from '../model/paging.ts'
import { dataPath, type EntityScope, inRequest } from '../model/scope.ts'
import { countIn, keysOf, pageQuery } from '../model/statements.ts'
import type { ApiProperties } from '../model/value-words.ts'
import { type CallOptions, postJson } from './http.ts'

export interface EntityResult {
  readonly entity: { readonly key: ApiKey; readonly properties?: ApiProperties }
  readonly version?: string
  readonly cursor?: string
}

export interface QueryAnswer {
  readonly batch: {
    readonly entityResults?: readonly EntityResult[]
    readonly endCursor?: string
    readonly moreResults: 'NOT_FINISHED' | 'MORE_RESULTS_AFTER_LIMIT' | 'MORE_RESULTS_AFTER_CURSOR' | 'NO_MORE_RESULTS'
    readonly skippedResults?: number
  }
}

interface AggregationAnswer {
  readonly batch: { readonly aggregationResults?: readonly { readonly aggregateProperties?: ApiProperties }[] }
}

/** A page of a query's results. A server that stops within an OFFSET is asked to go on. */
export async function readPage(
  scope: EntityScope,
  statement: SelectStatement,
  request: PageRequest,
  options: CallOptions = {},
): Promise<Page<EntityResult>> {
  const most = countIn(statement.limit) ?? Number.POSITIVE_INFINITY
  let skipped = 0
  let start = request.start
  for (;;) {
    const body = { ...inRequest(scope), gqlQuery: pageQuery(statement, { ...request, start }, skipped) }
    const { batch } = await postJson<QueryAnswer>(dataPath(scope.project, 'runQuery'), body, options)
    const rows = batch.entityResults ?? []
    const end = batch.endCursor ?? ''
    const isOver = batch.moreResults === 'NO_MORE_RESULTS' || batch.moreResults === 'MORE_RESULTS_AFTER_CURSOR'
    if (rows.length > 0 || isOver || batch.moreResults === 'MORE_RESULTS_AFTER_LIMIT') {
      return { rows, end, hasMore: !isOver && request.before + rows.length < most && rows.length > 0 }
    }
    skipped += batch.skippedResults ?? 0
    start = end
  }
}

export async function aggregate(scope: EntityScope, statement: Statement, options: CallOptions = {}) {
  const body = { ...inRequest(scope), gqlQuery: { queryString: printGql(statement), allowLiterals: true } }
  const path = dataPath(scope.project, 'runAggregationQuery')
  const { batch } = await postJson<AggregationAnswer>(path, body, options)
  return batch.aggregationResults?.[0]?.aggregateProperties ?? {}
}

/** The count that a statement such as those of `countOf` asks for. */
export async function readCount(scope: EntityScope, statement: Statement, options?: CallOptions): Promise<number> {
  const { n } = await aggregate(scope, statement, options)
  return Number(n?.integerValue ?? 0)
}

/** Keys of all that a query finds, a page at a time. */
export async function* keyPages(scope: EntityScope, statement: SelectStatement, options: CallOptions = {}) {
  const keys = keysOf(statement)
  let [start, before] = [undefined as string | undefined, 0]
  for (;;) {
    const page = await readPage(scope, keys, { start, end: undefined, limit: pageMax, before }, options)
    if (page.rows.length > 0) yield page.rows.map(({ entity }) => entity.key)
    if (!page.hasMore) return
    start = page.end
    before += page.rows.length
  }
}
