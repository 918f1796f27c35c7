/**
 * The plan of a GQL query in words, for people: the API's own explain_metrics have no place for it.
 *
 *   POST  /emulator/explain   project, database, namespace, gql   →   plan: lines, indexesUsed
 *
 * Nothing is read; as in production a missing composite index is FAILED_PRECONDITION, or is built where indexes are automatic.
 */
import { type Engine, type ExplainMetrics, invalidArgument, validatePartition } from '@sixtables/engine'
import { gqlAggregationOf, gqlQueryOf, parsedGql } from '../../gql/gql.ts'
import type { Router } from '../../protocols/router.ts'
import { bodyObject } from '../admin-service.ts'
import type { JsonObject } from '../operations/operations.ts'

export const explainPath = '/emulator/explain'

export interface PlanReport {
  readonly plan: readonly string[]
  readonly indexesUsed: ExplainMetrics['indexesUsed']
}

/** @throws DatastoreError for what is no query, and for one that cannot be planned */
export async function explainGql(engine: Engine, request: JsonObject): Promise<PlanReport> {
  const { project, database = '', namespace = '', gql } = request
  if (typeof gql !== 'string' || gql === '')
    throw invalidArgument('gql is missing: give a query such as SELECT * FROM Task')
  const partition = {
    projectId: String(project ?? ''),
    databaseId: database === '(default)' ? '' : String(database),
    namespaceId: String(namespace),
  }
  validatePartition(partition, undefined)
  const asked = { queryString: gql, allowLiterals: true, namedBindings: {}, positionalBindings: [] }
  const [of, context, plans] = [
    engine.database(partition.projectId, partition.databaseId),
    engine.context(),
    { analyze: false },
  ]
  const { metrics } =
    parsedGql(gql, { allowLiterals: true }).type === 'aggregate'
      ? await of.explainAggregationQuery(context, gqlAggregationOf(asked, partition), plans)
      : await of.explainQuery(context, { query: gqlQueryOf(asked, partition) }, plans)
  return { plan: metrics.plan.split('\n'), indexesUsed: metrics.indexesUsed }
}

export function addExplainRoute(router: Router, engine: Engine): void {
  router.add('POST', explainPath, async ({ body }) => ({ json: await explainGql(engine, bodyObject(body)) }))
}
