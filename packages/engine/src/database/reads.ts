/**
 * The reading verbs of a database: lookups, queries, aggregations, and their explanations. Each is planned with the existing
 * indexes, and runs at the moment given by its options (reading.ts).
 */
import type { RequestContext } from '../context.ts'
import { parsePropertyMask } from '../encoding/property-mask.ts'
import { shapeOfCursors } from '../executor/cursor.ts'
import { execute } from '../executor/execute.ts'
import { findNearest } from '../executor/nearest.ts'
import { type NearestPlan, planNearest } from '../executor/nearest-query.ts'
import type { ResultPage } from '../executor/result-page.ts'
import { type Window, windowOf } from '../executor/window.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import { checkSpecialKind, isSpecialKind, planSpecial, specialView } from '../metadata/special-kinds.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import type { Query } from '../model/query.ts'
import type { Value } from '../model/value.ts'
import { normalize } from '../planner/normalize.ts'
import type { Plan } from '../planner/plan-node.ts'
import type { TableView } from '../tables/table.ts'
import { decodeToken } from '../transactions/transaction.ts'
import type { TransactionDatabase } from '../transactions/transactions.ts'
import { type PlannedAggregation, planAggregation, runAggregation } from './aggregation.ts'
import type {
  AggregationBatch,
  LookupRequest,
  LookupResult,
  QueryBatch,
  RunAggregationQueryRequest,
  RunQueryRequest,
} from './api.ts'
import type { DatabaseParts } from './database-parts.ts'
import { type Explained, type ExplainOptions, Explanation, emptyPage, wholePlanTree } from './explanation.ts'
import { groupsOf, scopeOfQuery } from './groups.ts'
import { checkLookup, lookupKeys } from './lookup.ts'
import { aggregateNearest } from './nearest-aggregation.ts'
import { planRowsReady } from './plan-rows.ts'
import type { Planner, QueriedDatabase } from './query-indexes.ts'
import { queryFact } from './query-use.ts'
import { aggregationBatch, lookupResult, queryBatch } from './read-answer.ts'
import { maskedBatch, queryMask } from './read-mask.ts'
import type { Reading } from './reading.ts'
import type { DatabaseSettings } from './settings.ts'
import { viewWithIndexes } from './snapshot-indexes.ts'
import { SpecialSources } from './special-sources.ts'

/** The part of a database that its reads need. */
export interface ReadDatabase extends TransactionDatabase, QueriedDatabase {
  readonly settings: DatabaseSettings
  readonly projectId: string
  readonly databaseId: string
}

const noToken = new Uint8Array(0)

interface PlannedQuery {
  readonly query: Query
  readonly planned: Plan
  readonly window: Window
  readonly nearest: NearestPlan | undefined
}

export class Reads {
  readonly #database: ReadDatabase
  readonly #parts: DatabaseParts
  readonly #reading: Reading
  readonly #special: SpecialSources

  constructor(database: ReadDatabase, parts: DatabaseParts) {
    this.#database = database
    this.#parts = parts
    this.#reading = parts.reading(database)
    this.#special = new SpecialSources(database, parts)
  }

  /** Called when rows changed without a commit. */
  forgetRows(): void {
    this.#special.forget()
  }

  lookup(context: RequestContext, request: LookupRequest): MaybePromise<LookupResult> {
    return this.#reading.verb(context, request.read, () => {
      const { keys, read, propertyMask } = request
      checkLookup(keys, this.#database)
      const mask = propertyMask === undefined ? undefined : parsePropertyMask(propertyMask)
      if (!context.isUncounted) this.#parts.notes.noteLookup({ keys, isTransactional: read?.transaction !== undefined })
      return this.#reading.run(context, {
        options: read,
        scopeOf: () => groupsOf(keys),
        work: (view) => lookupKeys(context, view, keys, mask),
        answer: lookupResult,
        // A store that can read many rows together needs only one turn.
        isOfEntities: true,
        steps: keys.length === 1 || this.#parts.kv.getAll !== undefined ? 'one' : 'many',
      })
    })
  }

  explainQuery(
    context: RequestContext,
    request: RunQueryRequest,
    options: ExplainOptions,
  ): MaybePromise<Explained<QueryBatch>> {
    const explanation = new Explanation(context, options)
    return andThen(this.runQuery(explanation.context, request, explanation), (batch) => explanation.query(batch))
  }

  runQuery(context: RequestContext, request: RunQueryRequest, explanation?: Explanation): MaybePromise<QueryBatch> {
    return this.#reading.verb(context, request.read, () => {
      const mask = queryMask(request)
      const nearest = planNearest(request.query, mask)
      const query = nearest?.base ?? request.query
      checkSpecialKind(query)
      const made: CompositeIndex[] = []
      const normal = normalize(query, this.#database)
      const batch = this.#withIndexes(
        context,
        (indexes) => planSpecial(normal, indexes, made, shapeOfCursors(query)),
        (planned) => {
          explanation?.planned(planned, nearest)
          context.trace?.planned(() => wholePlanTree(planned, nearest, undefined))
          const window = windowOf(query, planned, { saysLimit: this.#database.settings.mode === 'legacy' })
          const work = (view: TableView): MaybePromise<ResultPage> => {
            if (explanation?.analyze === false) return emptyPage(planned)
            const rows = this.#rowsFor(context, request, view, planned, made)
            return andThen(rows, (whole) => this.#page(context, whole, { query, planned, window, nearest }))
          }
          const ready = this.#parts.queryIndexes.demandKeyOrder(this.#database, normal)
          const rows = (): MaybePromise<void> => planRowsReady(context, this.#parts.local?.onDemand, planned.source)
          return andThen(andThen(ready, rows), () =>
            this.#reading.run(context, {
              options: request.read,
              scopeOf: () => scopeOfQuery(query, normal.ancestor),
              work,
              answer: queryBatch,
            }),
          )
        },
      )
      return mask === undefined || nearest !== undefined
        ? batch
        : andThen(batch, (whole) => maskedBatch(context, whole, mask))
    })
  }

  #page(
    context: RequestContext,
    view: TableView,
    { query, planned, window, nearest }: PlannedQuery,
  ): MaybePromise<ResultPage> {
    const page =
      nearest === undefined
        ? execute(context, view, planned, window)
        : findNearest(context, view, planned, window, nearest)
    return andThen(page, (found) => {
      if (!context.isUncounted) this.#parts.notes.noteQuery(queryFact(query, planned, found))
      return found
    })
  }

  explainAggregationQuery(
    context: RequestContext,
    request: RunAggregationQueryRequest,
    options: ExplainOptions,
  ): MaybePromise<Explained<AggregationBatch>> {
    const explanation = new Explanation(context, options)
    const batch = this.runAggregationQuery(explanation.context, request, explanation)
    return andThen(batch, (values) => explanation.aggregation(values))
  }

  runAggregationQuery(
    context: RequestContext,
    request: RunAggregationQueryRequest,
    explanation?: Explanation,
  ): MaybePromise<AggregationBatch> {
    if (request.query.nearest !== undefined) {
      return aggregateNearest((base) => this.runQuery(context, base, explanation), request, this.#database.indexOptions)
    }
    return this.#reading.verb(context, request.read, () => {
      const made: CompositeIndex[] = []
      return this.#withIndexes(
        context,
        (indexes) => planAggregation(request, this.#database, indexes, made),
        (planned) => this.#aggregate(context, request, planned, { made, explanation }),
      )
    })
  }

  #aggregate(
    context: RequestContext,
    request: RunAggregationQueryRequest,
    planned: PlannedAggregation,
    { made, explanation }: { readonly made: readonly CompositeIndex[]; readonly explanation: Explanation | undefined },
  ): MaybePromise<AggregationBatch> {
    const { plan } = planned.aggregate
    explanation?.planned(plan, undefined, planned.names)
    context.trace?.planned(() => wholePlanTree(plan, undefined, planned.names))
    const work = (view: TableView): MaybePromise<{ readonly values: ReadonlyMap<string, Value> }> => {
      if (explanation?.analyze === false) return { values: new Map() }
      const rows = this.#rowsFor(context, request, view, plan, made)
      return andThen(rows, (whole) => runAggregation(context, whole, planned))
    }
    return andThen(planRowsReady(context, this.#parts.local?.onDemand, plan.source), () =>
      this.#reading.run(context, {
        options: request.read,
        scopeOf: () => scopeOfQuery(request.query, planned.ancestor),
        work,
        answer: aggregationBatch,
      }),
    )
  }

  /** Plans with the existing indexes or new ones, and reads. Starts again if an index was dropped meanwhile. */
  #withIndexes<P, T extends { readonly transaction?: Uint8Array }>(
    context: RequestContext,
    planner: Planner<P>,
    read: (planned: P) => MaybePromise<T>,
  ): MaybePromise<T> {
    const { queryIndexes, transactions } = this.#parts
    const { catalogue } = this.#database
    return andThen(queryIndexes.plan(context, this.#database, planner), (planned) => {
      const { departures } = catalogue
      return andThen(read(planned), (result) => {
        if (departures === catalogue.departures) return result
        const rolledBack =
          result.transaction === undefined ? undefined : transactions.rollback(this.#database, result.transaction)
        return andThen(rolledBack, () => this.#withIndexes(context, planner, read))
      })
    })
  }

  /**
   * The view for the rows of a query: for a special kind one made for the query; else the view of the read, with the rows of
   * indexes that are younger than the transaction.
   *
   * @param made - the indexes that planSpecial() added
   */
  #rowsFor(
    context: RequestContext,
    { query, read }: Pick<RunQueryRequest, 'query' | 'read'>,
    view: TableView,
    planned: Plan,
    made: readonly CompositeIndex[],
  ): MaybePromise<TableView> {
    if (isSpecialKind(query))
      return specialView(context, view, query, this.#special.of(context, read, view, query.kind), made)
    const { moment } = view
    if (moment === undefined && read?.transaction === undefined) return view
    // The transaction may have ended since this read began; the read continues.
    const age = moment === undefined ? decodeToken(read?.transaction ?? noToken) : Number(moment)
    const young = this.#database.catalogue.youngerThan(age ?? 0)
    return young.length === 0 ? view : viewWithIndexes(context, view, this.#database, planned, young)
  }
}
