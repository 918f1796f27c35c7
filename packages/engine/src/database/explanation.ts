/**
 * Explaining a query: its plan, and with `analyze` also the cost of running it.
 *
 *   Explanation ─▶ ledger of the request   counts the rows by table
 *               ◀─ planned()               the plan by which the rows are read
 *
 * Without `analyze` no row is read, but the query begins its transaction. An explained query reads the same rows as an
 * unexplained one.
 *
 * Known: the report's fields, the names in debug_stats, and the charge for index entries if several properties have
 * inequalities (production's pages on Query Explain). Believed, from the price list: one read for each entity given or skipped
 * by an offset, for each 1000 index rows of an aggregation, and for each 100 entities that a vector search compares, at least
 * one in total; small operations for results of keys-only and projection queries.
 * Ours: index_entries_scanned includes rows that seeks read ahead; the text of the plan.
 */
import type { Scheduler } from '../clock.ts'
import { type RequestContext, TableLedger } from '../context.ts'
import type { NearestPlan } from '../executor/nearest-query.ts'
import type { DistanceMeasure } from '../model/query.ts'
import { planText, planTree } from '../planner/explain.ts'
import { type IndexUsed, indexesUsed } from '../planner/explain-indexes.ts'
import type { Disjunct } from '../planner/normal-query.ts'
import type { Plan } from '../planner/plan-node.ts'
import type { PlanTree } from '../request-trace.ts'
import type { TableId } from '../tables/table.ts'
import type { AggregationBatch, QueryBatch } from './api.ts'

export interface ExplainOptions {
  readonly analyze: boolean
}

export interface ExecutionStats {
  readonly resultsReturned: number
  readonly durationMicros: bigint
  /** Production's charge: the sum of `billing`, index entries included. */
  readonly readOperations: number
  readonly indexEntriesScanned: number
  readonly documentsScanned: number
  readonly billing: Billing
  /** By table, for tables with at least one row. */
  readonly rowsRead: Readonly<Partial<Record<TableId, number>>>
}

export interface Billing {
  readonly documents: number
  readonly indexEntries: number
  /** Free of charge. */
  readonly smallOperations: number
  /** Read operations for the query itself. */
  readonly minimum: number
}

export interface ExplainMetrics {
  readonly indexesUsed: readonly IndexUsed[]
  /** The plan in words, several lines. */
  readonly plan: string
  readonly tree?: PlanTree | undefined
  /** Only with `analyze`. */
  readonly stats?: ExecutionStats
}

export interface Explained<B> {
  /** Only with `analyze`. */
  readonly batch?: B
  /** The transaction that the request began. */
  readonly transaction?: Uint8Array | undefined
  readonly metrics: ExplainMetrics
}

const neighboursPerRead = 100

const measureWords: Readonly<Record<DistanceMeasure, string>> = {
  euclidean: 'euclidean distance',
  cosine: 'cosine distance',
  dotProduct: 'dot product',
}

/** The tree of a plan, with the steps on its results: a vector search, and aggregations by name. */
export function wholePlanTree(
  plan: Plan,
  nearest: NearestPlan | undefined,
  aggregated: readonly string[] | undefined,
): PlanTree {
  const { source, results } = planTree(plan)
  const lines = [...results]
  if (nearest !== undefined) {
    const { limit, property, measure } = nearest
    lines.push(`of these the nearest ${limit} by ${property}: ${measureWords[measure]}`)
  }
  if (aggregated !== undefined) lines.push(`aggregate ${aggregated.join(', ')}`)
  return { source, results: lines }
}

export class Explanation {
  readonly analyze: boolean
  readonly #clock: Scheduler
  readonly #ledger: TableLedger
  readonly #startedMs: number
  #planned: { readonly plan: Plan; readonly nearest: NearestPlan | undefined; readonly tree: PlanTree } | undefined

  /** @param context - of the query; its ledger counts rows by table from now on, if it did not before */
  constructor(context: RequestContext, { analyze }: ExplainOptions) {
    this.analyze = analyze
    if (!(context.ledger instanceof TableLedger)) context.ledger = new TableLedger()
    this.#ledger = context.ledger as TableLedger
    this.#clock = context.clock
    this.#startedMs = context.clock.steadyMs()
  }

  get #entities(): number {
    return this.#ledger.tables.find(({ table }) => table === 'Entities')?.rowsRead ?? 0
  }

  /** Index rows alone: rows of logs and counters do not belong to a query. */
  get #indexEntries(): number {
    const indexes = this.#ledger.tables.filter(({ table }) => table.startsWith('EntitiesBy'))
    return indexes.reduce((sum, { rowsRead }) => sum + rowsRead, 0)
  }

  /** Notes the plan, or a newer plan of the same query; for the parameters see {@link wholePlanTree}. */
  planned(plan: Plan, nearest: NearestPlan | undefined, aggregated?: readonly string[]): void {
    this.#planned = { plan, nearest, tree: wholePlanTree(plan, nearest, aggregated) }
  }

  query(batch: QueryBatch): Explained<QueryBatch> {
    const given = batch.results.length
    const charge = { documents: 0, indexEntries: 0, smallOperations: 0 }
    if (this.#planned?.nearest !== undefined) Object.assign(charge, { documents: given, indexEntries: this.#entities })
    else if (batch.resultType !== 'full') charge.smallOperations = given
    else {
      charge.documents = given + batch.skipped
      if (this.#planned !== undefined && rangeProperties(this.#planned.plan) > 1)
        charge.indexEntries = this.#indexEntries
    }
    return this.#explained(batch, given, charge)
  }

  aggregation(batch: AggregationBatch): Explained<AggregationBatch> {
    return this.#explained(batch, 1, { documents: 0, indexEntries: this.#indexEntries, smallOperations: 0 })
  }

  #explained<B extends QueryBatch | AggregationBatch>(
    batch: B,
    resultsReturned: number,
    charge: Omit<Billing, 'minimum'>,
  ): Explained<B> {
    const planned = this.#planned
    const metrics: ExplainMetrics =
      planned === undefined
        ? { indexesUsed: [], plan: '', tree: undefined }
        : { indexesUsed: indexesUsed(planned.plan), plan: planText(planned.tree), tree: planned.tree }
    const { transaction } = batch
    if (!this.analyze) return { metrics, transaction }
    const entriesPerRead = planned?.nearest === undefined ? 1000 : neighboursPerRead
    const reads = charge.documents + Math.ceil(charge.indexEntries / entriesPerRead)
    const minimum = reads === 0 ? 1 : 0
    const readTables = this.#ledger.tables.filter(({ rowsRead }) => rowsRead > 0)
    const stats: ExecutionStats = {
      resultsReturned,
      durationMicros: BigInt(Math.round((this.#clock.steadyMs() - this.#startedMs) * 1000)),
      readOperations: reads + minimum,
      indexEntriesScanned: this.#indexEntries,
      documentsScanned: this.#entities,
      billing: { ...charge, minimum },
      rowsRead: Object.fromEntries(readTables.map(({ table, rowsRead }) => [table, rowsRead])),
    }
    return { batch, metrics: { ...metrics, stats }, transaction }
  }
}

/** The number of properties, including the key, that are limited to ranges. */
function rangeProperties({ columns, lateColumns, disjuncts }: Plan): number {
  const isConfined = (spans: Disjunct['pathSpans']): boolean => spans !== undefined
  const inColumns = columns.filter((_, i) => disjuncts.some(({ columnSpans }) => isConfined(columnSpans[i])))
  const behindTheKey = lateColumns.filter((_, i) => disjuncts.some(({ lateSpans }) => isConfined(lateSpans[i])))
  const byKey = disjuncts.some(({ pathSpans }) => isConfined(pathSpans)) ? 1 : 0
  return inColumns.length + behindTheKey.length + byKey
}
