/** RunQuery: one batch of a query's results. While more_results is NOT_FINISHED, clients call again from the end cursor. */

import {
  andThen,
  type RunQueryRequest as EngineRequest,
  type Explained,
  invalidArgument,
  type MaybePromise,
  type MoreResults,
  type PartitionId,
  type Query,
  type QueryBatch,
  type ResultType,
} from '@sixtables/engine'
import { google, type RunQueryRequest as WireRunQueryRequest } from '#gen/wire.js'
import type { Call, Handler } from '../call.ts'
import { writeResult, writeResults } from '../convert/entity-result.ts'
import { writeExplainMetrics } from '../convert/explain.ts'
import { partitionOf, queryOf } from '../convert/query.ts'
import { readOptionsOf } from '../convert/read-options.ts'
import { decodeRequest, requestScope } from '../convert/request.ts'
import type { EnginePort } from '../engine-port.ts'
import { gqlQueryOf } from '../gql/gql.ts'
import { writeQuery } from '../gql/write-query.ts'

const { RunQueryRequest } = google.datastore.v1

/** EntityResult.ResultType. */
const resultTypes: Readonly<Record<ResultType, number>> = { full: 1, projection: 2, keyOnly: 3 }

/** QueryResultBatch.MoreResultsType. */
export const moreResultsTypes: Readonly<Record<MoreResults, number>> = {
  notFinished: 1,
  moreResultsAfterLimit: 2,
  noMoreResults: 3,
  moreResultsAfterCursor: 4,
}

export function runQueryHandler(engine: EnginePort): Handler {
  return (bytes, call) => {
    const request = decodeRequest(RunQueryRequest, bytes, 'RunQuery')
    const scope = requestScope(request, call)
    const partition = partitionOf(request.partitionId, scope)
    const query = requestedQuery(request, partition)
    const read = readOptionsOf(request.readOptions)
    const asked: EngineRequest = {
      query,
      ...(read === undefined ? {} : { read }),
      ...(request.propertyMask === null ? {} : { propertyMask: request.propertyMask.paths }),
    }
    const echo = request.gqlQuery === null ? undefined : query
    const database = engine.database(scope.projectId, scope.databaseId)
    if (request.explainOptions === null) {
      return andThen(database.runQuery(call, asked), (batch) => answerOf(call, batch, echo))
    }
    return andThen(database.explainQuery(call, asked, request.explainOptions), (explained) =>
      answerOf(call, explained.batch, echo, explained),
    )
  }
}

function requestedQuery({ query, gqlQuery }: WireRunQueryRequest, partition: PartitionId): Query {
  if (gqlQuery !== null) return gqlQueryOf(gqlQuery, partition)
  if (query === null)
    throw invalidArgument(
      'the request has neither a query nor a GQL query',
      'one of fields Query.query and Query.gql_query must be set',
    )
  return queryOf(query, partition)
}

/**
 * RunQueryResponse: batch 1, query 2 (of GQL), transaction 5, explain_metrics 9. QueryResultBatch: entity_result_type 1,
 * entity_results 2, skipped_cursor 3, end_cursor 4, more_results 5, skipped_results 6, read_time 8.
 */
function answerOf(
  call: Call,
  batch: QueryBatch | undefined,
  echo: Query | undefined,
  explained?: Explained<QueryBatch>,
): MaybePromise<Buffer> {
  const transaction = explained?.transaction ?? batch?.transaction
  return writeResults(call, batch?.results ?? [], (writer) => {
    if (explained !== undefined) writeExplainMetrics(writer, 9, explained.metrics)
    if (transaction !== undefined) writer.bytes(5, transaction)
    if (echo !== undefined) writeQuery(writer, 2, echo)
    if (batch === undefined) return
    const end = writer.mark()
    writer.timestamp(8, Number(batch.readTime))
    if (batch.skipped > 0) writer.uint32(6, batch.skipped)
    writer.uint32(5, moreResultsTypes[batch.moreResults])
    writer.bytes(4, batch.endCursor)
    if (batch.skippedCursor !== undefined) writer.bytes(3, batch.skippedCursor)
    for (let i = batch.results.length - 1; i >= 0; i--) {
      const result = batch.results[i]
      if (result !== undefined) writeResult(writer, 2, result)
    }
    writer.uint32(1, resultTypes[batch.resultType])
    writer.head(1, end)
  })
}
