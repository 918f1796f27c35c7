/** RunAggregationQuery: counts, sums and averages over a query's results. */

import {
  type Aggregation,
  type AggregationBatch,
  andThen,
  type Explained,
  encodeValue,
  invalidArgument,
  type PartitionId,
} from '@sixtables/engine'
import {
  google,
  type AggregationQueryAggregation as WireAggregation,
  type AggregationQuery as WireAggregationQuery,
  type RunAggregationQueryRequest as WireRequest,
} from '#gen/wire.js'
import type { Handler } from '../call.ts'
import { writeAnswer } from '../convert/answer-writer.ts'
import { writeExplainMetrics } from '../convert/explain.ts'
import { partitionOf, queryOf } from '../convert/query.ts'
import { bigintOf, readOptionsOf } from '../convert/read-options.ts'
import { decodeRequest, requestScope } from '../convert/request.ts'
import type { EnginePort } from '../engine-port.ts'
import { type BoundAggregation, gqlAggregationOf } from '../gql/gql.ts'
import { writeAggregationQuery } from '../gql/write-query.ts'

const { RunAggregationQueryRequest } = google.datastore.v1

/** The number of NO_MORE_RESULTS in QueryResultBatch.MoreResultsType: an aggregation has one answer. */
const noMoreResults = 3

export function runAggregationQueryHandler(engine: EnginePort): Handler {
  return (bytes, call) => {
    const request = decodeRequest(RunAggregationQueryRequest, bytes, 'RunAggregationQuery')
    const scope = requestScope(request, call)
    const partition = partitionOf(request.partitionId, scope)
    const bound = boundOf(request, partition)
    const read = readOptionsOf(request.readOptions)
    const asked = read === undefined ? bound : { ...bound, read }
    const echo = request.gqlQuery === null ? undefined : bound
    const database = engine.database(scope.projectId, scope.databaseId)
    if (request.explainOptions === null) {
      return andThen(database.runAggregationQuery(call, asked), (batch) => answerOf(batch, echo))
    }
    return andThen(database.explainAggregationQuery(call, asked, request.explainOptions), (explained) =>
      answerOf(explained.batch, echo, explained),
    )
  }
}

function boundOf({ aggregationQuery, gqlQuery }: WireRequest, partition: PartitionId): BoundAggregation {
  if (gqlQuery !== null) return gqlAggregationOf(gqlQuery, partition)
  if (aggregationQuery === null) {
    throw invalidArgument('the request has neither an aggregation query nor a GQL query')
  }
  return {
    query: nestedQueryOf(aggregationQuery, partition),
    aggregations: aggregationQuery.aggregations.map(aggregationOf),
  }
}

/** Without a nested query, all entities are aggregated (measured). */
function nestedQueryOf({ nestedQuery }: WireAggregationQuery, partition: PartitionId): BoundAggregation['query'] {
  if (nestedQuery !== null) return queryOf(nestedQuery, partition)
  return { partition, projection: [], order: [], distinctOn: [], offset: 0 }
}

function aggregationOf({ count, sum, avg, alias }: WireAggregation): Aggregation {
  if (count !== null) {
    return { operator: 'count', upTo: count.upTo === null ? undefined : bigintOf(count.upTo.value), alias }
  }
  if (sum !== null) return { operator: 'sum', property: sum.property?.name ?? '', alias }
  if (avg !== null) return { operator: 'avg', property: avg.property?.name ?? '', alias }
  throw invalidArgument(
    'an aggregation has no operator; choose count, sum or avg',
    'Operator field in Aggregation is not set.',
  )
}

/**
 * RunAggregationQueryResponse: batch 1, query 2, transaction 5, explain_metrics 9. AggregationResultBatch: aggregation_results 1
 * {aggregate_properties 2: entries of name 1 and value 2}, more_results 2, read_time 3.
 */
function answerOf(
  batch: AggregationBatch | undefined,
  echo: BoundAggregation | undefined,
  explained?: Explained<AggregationBatch>,
): Buffer {
  const transaction = explained?.transaction ?? batch?.transaction
  return writeAnswer((writer) => {
    if (explained !== undefined) writeExplainMetrics(writer, 9, explained.metrics)
    if (transaction !== undefined) writer.bytes(5, transaction)
    if (echo !== undefined) writeAggregationQuery(writer, 2, echo)
    if (batch === undefined) return
    const { values, readTime } = batch
    const end = writer.mark()
    writer.timestamp(3, Number(readTime))
    writer.uint32(2, noMoreResults)
    const resultEnd = writer.mark()
    for (const [name, value] of [...values].reverse()) {
      const entryEnd = writer.mark()
      writer.bytes(2, encodeValue(value))
      writer.text(1, name)
      writer.head(2, entryEnd)
    }
    writer.head(1, resultEnd)
    writer.head(1, end)
  })
}
