/** The data API as the console uses it: queries page by page, counts and deletions. */
import { printGql, type SelectStatement, type Statement } from '@sixtables/gateway/browser'
import { type Page, type PageRequest, pageMax } from '../model/paging.ts'
import { type EntityScope, given, inRequest } from '../model/scope.ts'
import { countIn, type GqlQuery, keysOf, pageQuery } from '../model/statements.ts'
import type { ApiKey, ApiProperties, ApiValue } from '../model/value-words.ts'
import { wrote } from './events.ts'
import { type CallOptions, postJson } from './http.ts'

export interface EntityResult {
  readonly entity: { readonly key: ApiKey; readonly properties?: ApiProperties }
  readonly version?: string
  readonly cursor?: string
}

interface QueryAnswer {
  readonly batch: {
    readonly entityResults?: readonly EntityResult[]
    readonly endCursor?: string
    readonly moreResults: 'NOT_FINISHED' | 'MORE_RESULTS_AFTER_LIMIT' | 'MORE_RESULTS_AFTER_CURSOR' | 'NO_MORE_RESULTS'
    readonly skippedResults?: number
  }
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
    const { batch } = await runGql(scope, pageQuery(statement, { ...request, start }, skipped), options)
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

function runGql(scope: EntityScope, gqlQuery: GqlQuery, options: CallOptions): Promise<QueryAnswer> {
  return postJson(
    `/v1/projects/${encodeURIComponent(scope.project)}:runQuery`,
    { ...inRequest(scope), gqlQuery },
    options,
  )
}

/** The figures of an aggregation, by their names. */
export async function aggregate(
  scope: EntityScope,
  statement: Statement | string,
  options: CallOptions = {},
): Promise<Readonly<Record<string, ApiValue>>> {
  const queryString = typeof statement === 'string' ? statement : printGql(statement)
  const body = { ...inRequest(scope), gqlQuery: { queryString, allowLiterals: true } }
  const path = `/v1/projects/${encodeURIComponent(scope.project)}:runAggregationQuery`
  const { batch } = await postJson<{
    readonly batch: {
      readonly aggregationResults?: readonly { aggregateProperties?: Readonly<Record<string, ApiValue>> }[]
    }
  }>(path, body, options)
  return batch.aggregationResults?.[0]?.aggregateProperties ?? {}
}

/** Keys of all that a query finds, a page at a time. */
export async function* keyPages(
  scope: EntityScope,
  statement: SelectStatement,
  options: CallOptions = {},
): AsyncGenerator<readonly ApiKey[]> {
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

/** Deletes entities, at most a page of them, each for itself. */
export async function deleteKeys(
  { project, database }: EntityScope,
  keys: readonly ApiKey[],
  options: CallOptions = {},
): Promise<void> {
  const body = {
    ...given({ databaseId: database }),
    mode: 'NON_TRANSACTIONAL',
    mutations: keys.map((key) => ({ delete: key })),
  }
  await postJson(`/v1/projects/${encodeURIComponent(project)}:commit`, body, options)
  wrote()
}
