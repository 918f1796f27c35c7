/**
 * The query verb: one batch of a query's results. For example ToDo WHERE owner = "ada" AND done = false LIMIT 20:
 *
 *   check, normalise    an OR of ANDs with complete orders
 *   plan                a merge join of two scans; a missing composite index is built, or refused
 *   read                at the moment of the options: pull operators give rows, and entities are read last
 *   answer              with properties outside of the mask cut off
 *
 * If an index of the plan was dropped meanwhile, the query is planned and read again.
 */
import type { RequestContext } from '../context.ts'
import { shapeOfCursors } from '../executor/cursor.ts'
import { execute } from '../executor/execute.ts'
import { findNearest } from '../executor/nearest.ts'
import { planNearest } from '../executor/nearest-query.ts'
import type { ResultPage } from '../executor/result-page.ts'
import { windowOf } from '../executor/window.ts'
import { andThen, type MaybePromise, type Steps, waitFor } from '../maybe-promise.ts'
import { checkSpecialKind, isSpecialKind, planSpecial, specialView } from '../metadata/special-kinds.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import { normalize } from '../planner/normalize.ts'
import { plan as planQuery } from '../planner/plan.ts'
import type { Plan } from '../planner/plan-node.ts'
import type { TableView } from '../tables/table.ts'
import { decodeToken } from '../transactions/transaction.ts'
import type { QueryBatch, RunQueryRequest } from './api.ts'
import { type Explanation, emptyPage, wholePlanTree } from './explanation.ts'
import { scopeOfQuery } from './groups.ts'
import { planRowsReady } from './plan-rows.ts'
import { queryFact } from './query-use.ts'
import { maskedBatch, queryMask } from './read-mask.ts'
import type { ReadParts } from './read-parts.ts'
import type { ReadResult } from './reading.ts'
import { viewWithIndexes } from './snapshot-indexes.ts'

/** @param explanation - gets the plan; without its `analyze` no row is read */
export function* querySteps(
  parts: ReadParts,
  context: RequestContext,
  request: RunQueryRequest,
  explanation?: Explanation,
): Steps<QueryBatch> {
  const { database, reading, queryIndexes, local } = parts
  const mask = request.propertyMask && queryMask(request.query, request.propertyMask)
  const nearest = request.query.nearest && planNearest(request.query, request.query.nearest, mask)
  const query = nearest?.base ?? request.query
  const isSpecial = isSpecialKind(query)
  if (isSpecial) checkSpecialKind(query)
  const normal = normalize(query, database)
  // Only a query of a special kind (`__kind__`) adds to it.
  const made: CompositeIndex[] = []
  for (;;) {
    // Plan with the existing indexes, or wait for a missing one.
    const planner = (indexes: readonly CompositeIndex[]): Plan =>
      isSpecial
        ? planSpecial(normal, indexes, made, shapeOfCursors(query))
        : planQuery(normal, indexes, shapeOfCursors(query))
    const plan = yield* waitFor(queryIndexes.plan(context, database, planner))
    // Rises when an index stops serving: then rows may be missing in what was read.
    const { departures } = database.catalogue
    explanation?.planned(plan, nearest)
    context.trace?.planned(() => wholePlanTree(plan, nearest, undefined))
    const window = windowOf(query, plan, { saysLimit: database.settings.mode === 'legacy' })
    if (normal.reverse) yield* waitFor(queryIndexes.demandKeyOrder(context, database, normal))
    if (local?.onDemand !== undefined) yield* waitFor(planRowsReady(context, local.onDemand, plan.source))
    // Read at the moment of the options.
    const work = (view: TableView): MaybePromise<ResultPage> => {
      if (explanation?.analyze === false) return emptyPage(plan)
      return andThen(viewFor(parts, context, request, view, plan, made), (whole) =>
        nearest === undefined
          ? execute(context, whole, plan, window)
          : findNearest(context, whole, plan, window, nearest),
      )
    }
    const scopeOf = () => scopeOfQuery(query, normal.ancestor)
    const read = yield* waitFor(reading.run(context, { options: request.read, scopeOf, work }))
    if (explanation?.analyze !== false) context.ledger.fact = queryFact(query, plan, read.found)
    if (departures !== database.catalogue.departures) {
      yield* waitFor(rolledBack(parts, read))
      continue
    }
    if (mask === undefined || nearest !== undefined) return batchOf(read)
    return yield* waitFor(maskedBatch(context, batchOf(read), mask))
  }
}

/** Ends the transaction that began with a read whose answer is not given. */
export function rolledBack(
  { database, transactions }: ReadParts,
  { transaction }: ReadResult<unknown>,
): MaybePromise<void> {
  if (transaction !== undefined) return transactions.rollback(database, transaction)
}

/** The most frequent answer is written field by field: copying an object and adding a field takes V8 1 µs. */
function batchOf({ found: page, readTime, transaction }: ReadResult<ResultPage>): QueryBatch {
  if (transaction !== undefined) return { ...page, readTime, transaction }
  const { resultType, results, skipped, skippedCursor, endCursor, moreResults } = page
  if (skippedCursor !== undefined) return { ...page, readTime }
  return { resultType, results, skipped, endCursor, moreResults, readTime }
}

const noToken = new Uint8Array(0)

/**
 * The view for the rows of a query: for a special kind one made for the query; else the view of the read, with the rows of
 * indexes that are younger than the transaction.
 *
 * @param made - the indexes that planSpecial() added
 */
export function viewFor(
  { database, special }: ReadParts,
  context: RequestContext,
  { query, read }: Pick<RunQueryRequest, 'query' | 'read'>,
  view: TableView,
  plan: Plan,
  made: readonly CompositeIndex[],
): MaybePromise<TableView> {
  if (isSpecialKind(query)) return specialView(context, view, query, special.of(context, read, view, query.kind), made)
  const { moment } = view
  if (moment === undefined && read?.transaction === undefined) return view
  // The transaction may have ended since this read began; the read continues.
  const age = moment === undefined ? decodeToken(read?.transaction ?? noToken) : Number(moment)
  const young = database.catalogue.youngerThan(age ?? 0)
  return young.length === 0 ? view : viewWithIndexes(context, view, database, plan, young)
}
