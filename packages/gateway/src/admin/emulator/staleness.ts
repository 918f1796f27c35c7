/**
 * A query's answer compared with the one after all waiting commits are applied: which results are stale, and which are missing.
 *
 *   POST  /emulator/staleness   project, database, namespace, gql, limit   →   results with their states, missing, waiting, more
 *
 * The query runs as over the data API, so a strong one applies commits before it reads. The comparison itself applies nothing.
 */
import {
  type Engine,
  formatKeyPath,
  invalidArgument,
  type PartitionId,
  propertiesInWords,
  type Query,
  type QueryResult,
} from '@sixtables/engine'
import { gqlQueryOf } from '../../gql/gql.ts'
import type { Router } from '../../protocols/router.ts'
import { bodyObject } from '../admin-service.ts'
import { type AskedEngine, askedBy } from './asked-engine.ts'
import { gqlIn, partitionIn } from './explain.ts'

export interface ResultReport {
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
  /** Results that the query does not find yet. */
  readonly missing: readonly ResultReport[]
  /** Number of waiting records in the database. */
  readonly waiting: number
  /** Whether there are results beyond `limit`, which are not compared. */
  readonly more: boolean
}

const limitMax = 100

export function addStalenessRoute(router: Router, engine: Engine): void {
  router.add('POST', '/emulator/staleness', async (request) => {
    const body = bodyObject(request.body)
    const { limit = limitMax } = body
    const asked = gqlIn(body)
    if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > limitMax) {
      throw invalidArgument(`limit is a whole number from 1 to ${limitMax}, not ${JSON.stringify(limit)}`)
    }
    const partition = partitionIn(body)
    const query = gqlQueryOf(asked, partition)
    const shown = Math.min(query.limit ?? Number.POSITIVE_INFINITY, Number(limit))
    return { json: await staleness(engine, askedBy(request, engine), { query, partition, shown }) }
  })
}

interface Asked {
  readonly query: Query
  readonly partition: PartitionId
  readonly shown: number
}

async function staleness(engine: Engine, asked: AskedEngine, { query, partition, shown }: Asked): Promise<StaleReport> {
  const database = asked.database(partition.projectId, partition.databaseId)
  const run = async (ahead: boolean): Promise<readonly QueryResult[]> => {
    // One more result than the limit shows whether there are more.
    const limited = { ...query, limit: Math.min(query.limit ?? Number.POSITIVE_INFINITY, shown + 1) }
    return (await database.runQuery(asked.context(), { query: limited, ...(ahead ? { read: { ahead } } : {}) })).results
  }
  const now = await run(false)
  const committed = await run(true)
  const idOf = (result: QueryResult): string =>
    result.projected === undefined ? keyOf(result) : `${keyOf(result)} ${wordsOf(result)}`
  const known = new Map(committed.map((result) => [idOf(result), wordsOf(result)]))
  const results = []
  for (const result of now.slice(0, shown)) {
    const [key, properties] = [keyOf(result), wordsOf(result)]
    const its = known.get(idOf(result))
    if (its === properties) results.push({ key, properties, state: 'right' as const })
    else if (its !== undefined) results.push({ key, properties, state: 'old' as const, committed: its })
    else if (committed.length > shown) results.push({ key, properties, state: 'right' as const })
    else {
      const image = await engine.inspector.entity(result.key)
      const words = image === undefined ? {} : { committed: propertiesInWords(image.properties) }
      results.push({ key, properties, state: 'gone' as const, ...words })
    }
  }
  const there = new Set(now.map(idOf))
  const missing = now.length > shown ? [] : committed.slice(0, shown).filter((result) => !there.has(idOf(result)))
  return {
    results,
    missing: missing.map((result) => ({ key: keyOf(result), properties: wordsOf(result) })),
    waiting: (await engine.inspector.pending({ ...partition, namespaceId: undefined, limit: 0 })).more ?? 0,
    more: now.length > shown,
  }
}

function keyOf({ key }: QueryResult): string {
  return formatKeyPath(key.path)
}

function wordsOf({ image, projected }: QueryResult): string {
  const properties = projected ?? image?.properties
  return properties === undefined ? '' : propertiesInWords(properties)
}
