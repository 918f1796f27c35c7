/**
 * The plan of a GQL query, for which the API's own explain_metrics have no field; the effects of a commit, without the commit; and the answer of a
 * query compared with the one after all waiting commits are applied: which results are stale, and which are missing.
 *
 *   POST /emulator/explain     {"project": "demo", "gql": "SELECT * FROM ToDo"}   →   a PlanReport
 *   POST /emulator/preview     a CommitRequest in JSON, with projectId            →   rows by table, conflicts; or the commit's refusal
 *   POST /emulator/staleness   as explain, with a limit                           →   a StaleReport
 *
 * Without `analyze` no entity is read. With automatic indexes a missing composite index is built, as by the query itself.
 *
 * For its staleness a query runs as over the data API, so a strong one applies commits before it reads. The comparison itself applies nothing.
 */
import {
  DatastoreError,
  type Engine,
  type ExecutionStats,
  type ExplainMetrics,
  formatKeyPath,
  giveWay,
  invalidArgument,
  type Key,
  type PartitionId,
  propertiesInWords,
  type Query,
  validatePartition,
} from '@sixtables/engine'
import { Call } from '../../call.ts'
import { gqlAggregationOf, gqlOfText, gqlQueryOf, parsedGql } from '../../gql/gql.ts'
import { readCommit } from '../../handlers/commit.ts'
import type { Router } from '../../protocols/router.ts'
import { jsonForm } from '../../protocols/wire-form.ts'
import { bodyObject, type JsonObject } from '../admin-service.ts'
import { type AskedEngine, askedBy, placeNamed } from '../named-database.ts'

export const explainPath = '/emulator/explain'

export interface PlanReport {
  readonly plan: readonly string[]
  readonly tree?: ExplainMetrics['tree']
  readonly indexesUsed: ExplainMetrics['indexesUsed']
  readonly stats?: Omit<ExecutionStats, 'durationMicros'> & { readonly durationMs: number }
  /** The composite index that the query lacks, in words and as an entry of index.yaml. */
  readonly missingIndex?: { readonly index: string; readonly yaml: string }
}

/** @throws DatastoreError for a wrong query, and for one without a plan for any reason other than a missing index */
async function explainGql(engine: AskedEngine, request: JsonObject): Promise<PlanReport> {
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

function gqlIn({ gql }: JsonObject): ReturnType<typeof gqlOfText> {
  if (typeof gql === 'string' && gql !== '') return gqlOfText(gql)
  throw invalidArgument('gql is missing: give a query such as SELECT * FROM Task')
}

function partitionIn({ namespace = '', ...names }: JsonObject): PartitionId {
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
  router.add('POST', '/emulator/staleness', async (request) => {
    const body = bodyObject(request.body)
    const { limit = limitMax } = body
    const asked = gqlIn(body)
    if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > limitMax) {
      throw invalidArgument(`limit is a whole number from 1 to ${limitMax}, not ${JSON.stringify(limit)}`)
    }
    const query = gqlQueryOf(asked, partitionIn(body))
    const shown = Math.min(query.limit ?? Number.POSITIVE_INFINITY, Number(limit))
    return { json: await staleness(engine, askedBy(request, engine), query, shown) }
  })
}

interface ResultReport {
  /** `User:"ada"/ToDo:5` */
  readonly key: string
  /** `{done: false}`; empty for a query for keys. */
  readonly properties: string
}

export interface StaleReport {
  readonly results: readonly (ResultReport & {
    /** `gone`: it would not be a result any more. `old`: its properties would differ. */
    readonly state: 'right' | 'old' | 'gone'
    /** Properties of the committed entity, for `old` and `gone`; absent if it is deleted. */
    readonly committed?: string
  })[]
  readonly missing: readonly ResultReport[]
  readonly waiting: number
  /** Whether there are results beyond `limit`, which are not compared. */
  readonly more: boolean
}

const limitMax = 100

/** Printing this many characters takes as long as reading a row. */
const charsOfWork = 16

interface Worded extends ResultReport {
  readonly of: Key
  /** Names the result among those of the same query. */
  readonly id: string
}

async function staleness(engine: Engine, asked: AskedEngine, query: Query, shown: number): Promise<StaleReport> {
  const { partition } = query
  const database = asked.database(partition.projectId, partition.databaseId)
  const context = asked.context()
  const run = async (ahead: boolean): Promise<readonly Worded[]> => {
    // One more result than the limit shows whether there are more.
    const limited = { ...query, limit: Math.min(query.limit ?? Number.POSITIVE_INFINITY, shown + 1) }
    const { results } = await database.runQuery(context, { query: limited, ...(ahead ? { read: { ahead } } : {}) })
    const worded: Worded[] = []
    for (const { key, image, projected } of results) {
      const own = projected ?? image?.properties
      const properties = own === undefined ? '' : propertiesInWords(own)
      const name = formatKeyPath(key.path)
      worded.push({ of: key, key: name, properties, id: projected === undefined ? name : `${name} ${properties}` })
      await giveWay(context, properties.length / charsOfWork)
    }
    return worded
  }
  const now = await run(false)
  const committed = await run(true)
  const known = new Map(committed.map(({ id, properties }) => [id, properties]))
  const results = []
  for (const { of, key, properties, id } of now.slice(0, shown)) {
    const its = known.get(id)
    if (its === properties) results.push({ key, properties, state: 'right' as const })
    else if (its !== undefined) results.push({ key, properties, state: 'old' as const, committed: its })
    else if (committed.length > shown) results.push({ key, properties, state: 'right' as const })
    else {
      const image = await engine.inspector.entity(of)
      const words = image === undefined ? {} : { committed: propertiesInWords(image.properties) }
      results.push({ key, properties, state: 'gone' as const, ...words })
      await giveWay(context, (words.committed?.length ?? 0) / charsOfWork)
    }
  }
  const there = new Set(now.map(({ id }) => id))
  const missing = now.length > shown ? [] : committed.slice(0, shown).filter(({ id }) => !there.has(id))
  return {
    results,
    missing: missing.map(({ key, properties }) => ({ key, properties })),
    waiting: (await engine.inspector.pending({ ...partition, namespaceId: undefined, limit: 0 })).more ?? 0,
    more: now.length > shown,
  }
}
