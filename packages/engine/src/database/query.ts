/**
 * The query verb: one batch of a query's results. For example ToDo WHERE owner = "ada" AND done = false LIMIT 20:
 *
 *   check, normalise    an OR of ANDs with complete orders
 *   plan                a merge join of two scans; a missing composite index is built, or refused
 *   read                now, in a transaction or at a past time: pull operators give rows, and entities are read last
 *   answer              with properties outside of the mask cut off
 *
 * If an index of the plan was dropped meanwhile, the query is planned and read again. An aggregation (aggregation.ts) takes the same
 * steps with another result.
 */
import type { QueryFact } from '../call-fact.ts'
import type { RequestContext } from '../context.ts'
import { prefixEnd } from '../encoding/bytes.ts'
import { shapeOfCursors } from '../executor/cursor.ts'
import { execute } from '../executor/execute.ts'
import { findNearest } from '../executor/nearest.ts'
import { type NearestPlan, planNearest } from '../executor/nearest-query.ts'
import type { ResultPage } from '../executor/result-page.ts'
import type { Execution } from '../executor/row-stream.ts'
import { type Window, windowOf } from '../executor/window.ts'
import { allOf, andThen, isPromise, type MaybePromise, runSteps, type Steps, waitFor } from '../maybe-promise.ts'
import { checkMetadataQuery } from '../metadata/metadata-kinds.ts'
import { isSpecialKind, planSpecial, specialView } from '../metadata/special-kinds.ts'
import { type CompositeIndex, formatIndex } from '../model/index-definition.ts'
import type { Filter, Query } from '../model/query.ts'
import type { OnDemandRows } from '../on-demand/on-demand-rows.ts'
import type { NormalQuery } from '../planner/normal-query.ts'
import { normalize } from '../planner/normalize.ts'
import { plan as planQuery } from '../planner/plan.ts'
import { type Plan, scansOf } from '../planner/plan-node.ts'
import { whileWanted } from '../slices.ts'
import type { TableView } from '../tables/table.ts'
import { decodeToken } from '../transactions/transaction.ts'
import type { QueryBatch, ReadOptions, RunQueryRequest } from './api.ts'
import { type Explanation, wholePlanTree } from './explanation.ts'
import { scopeOfQuery } from './groups.ts'
import { maskedBatch, queryMask } from './read-mask.ts'
import { viewWithIndexes } from './snapshot-indexes.ts'
import type { ReadResult } from './store-verbs.ts'
import type { VerbParts } from './verb-parts.ts'

const noBytes = new Uint8Array(0)

export function runQuery(
  parts: VerbParts,
  context: RequestContext,
  request: RunQueryRequest,
  explanation?: Explanation,
): MaybePromise<QueryBatch> {
  const mask = request.propertyMask && queryMask(request.query, request.propertyMask)
  const nearest = request.query.nearest && planNearest(request.query, request.query.nearest, mask)
  const query = nearest?.base ?? request.query
  if (isSpecialKind(query)) checkMetadataQuery(query)
  const asked: PlannedRead<ResultPage> = {
    query,
    normal: normalize(query, parts.database),
    nearest,
    run: (execution, window) =>
      nearest === undefined ? execute(execution, window) : findNearest(execution, window, nearest),
    none: ({ resultType }) => {
      return { resultType, results: [], skipped: 0, endCursor: noBytes, moreResults: 'noMoreResults' }
    },
  }
  return andThen(runSteps(readByPlan(parts, context, request.read, asked, explanation)), (read) => {
    const { results, skipped } = read.found
    if (explanation?.analyze !== false) context.ledger.fact = queryFact(query, read.plan, results.length, skipped)
    return mask === undefined || nearest !== undefined ? batchOf(read) : maskedBatch(context, batchOf(read), mask)
  })
}

/** For observers: the properties that a query names, and the composite indexes of its plan. */
export function queryFact({ filter }: Query, plan: Plan, returned: number, skipped: number): QueryFact {
  const { partition, kind, columns, lateColumns } = plan
  const properties = [...columns, ...lateColumns].map(({ property }) => property)
  // The plan of a filter that contradicts itself has no conditions.
  addProperties(filter, properties)
  const indexes = scansOf(plan.source).flatMap(({ index }) => (index === undefined ? [] : [formatIndex(index)]))
  return { call: 'query', partition, kind, properties, indexes, returned, skipped }
}

function addProperties(filter: Filter | undefined, properties: string[]): void {
  if (filter?.type === 'property') properties.push(filter.property)
  else for (const part of filter?.filters ?? []) addProperties(part, properties)
}

/** The most frequent answer is written field by field: copying an object and adding a field takes V8 1 µs. */
function batchOf({ found: page, readTime, transaction }: ReadResult<ResultPage>): QueryBatch {
  const { resultType, results, skipped, skippedCursor, endCursor, moreResults } = page
  if (skippedCursor !== undefined) return { ...page, readTime, transaction }
  return { resultType, results, skipped, endCursor, moreResults, readTime, transaction }
}

export interface PlannedRead<T> {
  readonly query: Query
  readonly normal: NormalQuery
  /** The vector search, and the names of the aggregations, on the results of the plan. */
  readonly nearest?: NearestPlan | undefined
  readonly aggregated?: readonly string[]
  run(execution: Execution, window: Window): MaybePromise<T>
  none(plan: Plan): T
}

/** @param explanation - gets the plan; without its `analyze` no row is read */
export function* readByPlan<T>(
  parts: VerbParts,
  context: RequestContext,
  options: ReadOptions | undefined,
  asked: PlannedRead<T>,
  explanation: Explanation | undefined,
): Steps<ReadResult<T> & { readonly plan: Plan }> {
  const { database, reading, queryIndexes, local, transactions } = parts
  const { query, normal, nearest, aggregated } = asked
  // Only a query of a special kind (`__kind__`) adds to it.
  const made: CompositeIndex[] = []
  const isSpecial = isSpecialKind(query)
  const planner = (indexes: readonly CompositeIndex[]): Plan =>
    isSpecial
      ? planSpecial(normal, indexes, made, shapeOfCursors(query))
      : planQuery(normal, indexes, shapeOfCursors(query))
  for (;;) {
    // Plan with the existing indexes, or wait for a missing one.
    const plan = yield* waitFor(queryIndexes.plan(context, database, planner))
    // Rises when an index stops serving: then rows may be missing in what was read.
    const { departures } = database.catalogue
    explanation?.planned(plan, nearest, aggregated)
    context.trace?.planned(() => wholePlanTree(plan, nearest, aggregated))
    const window = windowOf(query, plan, { saysLimit: database.settings.mode === 'legacy' })
    // Descending key order is a scan backwards here; production needs an index for it, so one is built, or its lack refused.
    if (normal.reverse && aggregated === undefined)
      yield* waitFor(queryIndexes.demandKeyOrder(context, database, normal))
    if (local?.onDemand !== undefined) yield* waitFor(planRowsReady(context, local.onDemand, plan))
    const work = (view: TableView): MaybePromise<T> => {
      if (explanation?.analyze === false) return asked.none(plan)
      const whole = viewFor(parts, context, query, options, view, plan, made)
      return andThen(whole, (all) => asked.run({ context, view: all, plan }, window))
    }
    const scopeOf = () => scopeOfQuery(query, normal.ancestor)
    const { found, readTime, transaction } = yield* waitFor(reading.run(context, database, { options, scopeOf, work }))
    if (departures === database.catalogue.departures) return { plan, found, readTime, transaction }
    // The transaction that began with this read is never given to the client.
    if (transaction !== undefined) yield* waitFor(transactions.rollback(database, transaction))
  }
}

/**
 * Resolves when a store that makes index rows at their first read has those of the plan. They are made before the moment of the
 * read is fixed: a read of an older moment would have to make its own. The call waits while others continue.
 *
 * @throws CANCELLED, DEADLINE_EXCEEDED
 */
function planRowsReady(context: RequestContext, store: OnDemandRows, plan: Plan): MaybePromise<void> {
  const onDemand = scansOf(plan.source).filter(
    ({ table }) => table === 'EntitiesByPropertyAsc' || table === 'EntitiesByPropertyDesc',
  )
  const ready = allOf(onDemand, ({ prefix }) => store.prepare({ start: prefix, end: prefixEnd(prefix) }))
  if (isPromise(ready)) return whileWanted(context, ready).then(() => {})
}

/**
 * The view for the rows of a query: for a special kind one made for the query; else the view of the read, with the rows of
 * indexes that are younger than the transaction.
 *
 * @param made - the indexes that planSpecial() added
 */
function viewFor(
  { database, special }: VerbParts,
  context: RequestContext,
  query: Query,
  read: ReadOptions | undefined,
  view: TableView,
  plan: Plan,
  made: readonly CompositeIndex[],
): MaybePromise<TableView> {
  if (isSpecialKind(query)) return specialView(context, view, query, special.of(context, read, view, query.kind), made)
  const { moment } = view
  if (moment === undefined && read?.transaction === undefined) return view
  // The transaction may have ended since this read began; the read continues.
  const age = moment === undefined ? decodeToken(read?.transaction ?? noBytes) : Number(moment)
  const young = database.catalogue.youngerThan(age ?? 0)
  return young.length === 0 ? view : viewWithIndexes(context, view, database, plan, young)
}
