/**
 * GQL (docs/reference/gql.md): from text and bindings to the engine's query.
 *
 *   GqlQuery ─▶ tokens ─▶ tree ─▶ bound to values and cursors ─▶ Query, or a query with aggregations
 */
import { invalidArgument, type PartitionId, type Query } from '@sixtables/engine'
import type { GqlQuery as WireGqlQuery } from '#gen/wire.js'
import { Binder, type BoundAggregation } from './bind.ts'
import { parseGql } from './parse.ts'
import type { Statement } from './syntax.ts'
import type { ParseOptions } from './token-stream.ts'
import { GqlError } from './tokens.ts'

export function gqlOfText(queryString: string): WireGqlQuery {
  return { queryString, allowLiterals: true, namedBindings: {}, positionalBindings: [] }
}

/** The query of a RunQuery. @throws INVALID_ARGUMENT for a wrong text, a missing binding, or an aggregation */
export function gqlQueryOf(gql: WireGqlQuery, partition: PartitionId): Query {
  return bound(gql, partition, (statement, binder) => {
    if (statement.type === 'select') return binder.query(statement)
    throw invalidArgument('GQL: this query aggregates: send it with RunAggregationQuery')
  })
}

export function gqlAggregationOf(gql: WireGqlQuery, partition: PartitionId): BoundAggregation {
  return bound(gql, partition, (statement, binder) => {
    if (statement.type === 'aggregate') {
      return { query: binder.query(statement.over), aggregations: statement.aggregations }
    }
    throw invalidArgument('GQL: this query aggregates nothing: send it with RunQuery, or write SELECT COUNT(*) …')
  })
}

export function parsedGql(text: string, options: ParseOptions): Statement {
  try {
    return parseGql(text, options)
  } catch (error) {
    throw error instanceof GqlError ? invalidArgument(error.message) : error
  }
}

function bound<T>(gql: WireGqlQuery, partition: PartitionId, bind: (statement: Statement, binder: Binder) => T): T {
  const binder = new Binder(gql, partition)
  const query = bind(parsedGql(gql.queryString, gql), binder)
  binder.checkAllUsed()
  return query
}
