/**
 * The plan of a GQL query, for which the API's own explain_metrics have no field, and the effects of a commit, without the commit.
 *
 *   POST  /emulator/explain   project, database, namespace, gql, analyze
 *     →  plan: lines, tree, indexesUsed, with analyze stats; or missingIndex: index, yaml
 *   POST  /emulator/preview   a CommitRequest in JSON, with projectId
 *     →  rows by table, conflicts; or the commit's refusal
 *
 * Without `analyze` no entity is read. With automatic indexes a missing composite index is built, as by the query itself.
 */
import {
  DatastoreError,
  type Engine,
  type ExecutionStats,
  type ExplainMetrics,
  invalidArgument,
  type PartitionId,
  validatePartition,
} from '@sixtables/engine'
import { Call } from '../../call.ts'
import { gqlAggregationOf, gqlOfText, gqlQueryOf, parsedGql } from '../../gql/gql.ts'
import { readCommit } from '../../handlers/commit.ts'
import { jsonForm } from '../../protocols/http-json.ts'
import type { Router } from '../../protocols/router.ts'
import { bodyObject, type JsonObject } from '../admin-service.ts'
import { type AskedEngine, askedBy, placeNamed } from '../named-database.ts'

export const explainPath = '/emulator/explain'

export interface PlanReport {
  readonly plan: readonly string[]
  readonly tree?: ExplainMetrics['tree']
  readonly indexesUsed: ExplainMetrics['indexesUsed']
  /** Present with `analyze`. */
  readonly stats?: Omit<ExecutionStats, 'durationMicros'> & { readonly durationMs: number }
  /** The composite index that the query lacks, in words and as an entry of index.yaml. */
  readonly missingIndex?: { readonly index: string; readonly yaml: string }
}

/** @throws DatastoreError for a wrong query, and for one without a plan for any reason other than a missing index */
export async function explainGql(engine: AskedEngine, request: JsonObject): Promise<PlanReport> {
  const { analyze = false } = request
  if (typeof analyze !== 'boolean') throw invalidArgument('analyze is true or false')
  const asked = gqlIn(request)
  const partition = partitionIn(request)
  const of = engine.database(partition.projectId, partition.databaseId)
  const [context, options] = [engine.context(), { analyze }]
  try {
    const { metrics } =
      parsedGql(asked.queryString, asked).type === 'aggregate'
        ? await of.explainAggregationQuery(context, gqlAggregationOf(asked, partition), options)
        : await of.explainQuery(context, { query: gqlQueryOf(asked, partition) }, options)
    return reportOf(metrics)
  } catch (error) {
    if (!(error instanceof DatastoreError)) throw error
    const { index, 'index.yaml': yaml } = error.details
    if (index === undefined || yaml === undefined) throw error
    return { plan: [], indexesUsed: [], missingIndex: { index, yaml } }
  }
}

export function gqlIn({ gql }: JsonObject): ReturnType<typeof gqlOfText> {
  if (typeof gql === 'string' && gql !== '') return gqlOfText(gql)
  throw invalidArgument('gql is missing: give a query such as SELECT * FROM Task')
}

export function partitionIn({ namespace = '', ...names }: JsonObject): PartitionId {
  const partition = { ...placeNamed(names), namespaceId: String(namespace) }
  validatePartition(partition, undefined)
  return partition
}

function reportOf({ plan, tree, indexesUsed, stats }: ExplainMetrics): PlanReport {
  const report = { plan: plan.split('\n'), ...(tree === undefined ? {} : { tree }), indexesUsed }
  if (stats === undefined) return report
  const { durationMicros, ...counts } = stats
  return { ...report, stats: { ...counts, durationMs: Number(durationMicros) / 1000 } }
}

export function addExplainRoutes(router: Router, engine: Engine): void {
  router.add('POST', explainPath, async (request) => ({
    json: await explainGql(askedBy(request, engine), bodyObject(request.body)),
  }))
  router.add('POST', '/emulator/preview', async ({ body }) => {
    const call = new Call({ clock: engine.context().clock })
    const message = await jsonForm.request('Commit', body, call)
    const { scope, commit } = await readCommit(message, call)
    return { json: await engine.preview(engine.database(scope.projectId, scope.databaseId), call, commit) }
  })
}
