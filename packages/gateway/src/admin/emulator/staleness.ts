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
  giveWay,
  invalidArgument,
  type Key,
  propertiesInWords,
  type Query,
} from '@sixtables/engine'
import { gqlQueryOf } from '../../gql/gql.ts'
import type { Router } from '../../protocols/router.ts'
import { bodyObject } from '../admin-service.ts'
import { type AskedEngine, askedBy } from '../named-database.ts'
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
  readonly missing: readonly ResultReport[]
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
    const query = gqlQueryOf(asked, partitionIn(body))
    const shown = Math.min(query.limit ?? Number.POSITIVE_INFINITY, Number(limit))
    return { json: await staleness(engine, askedBy(request, engine), query, shown) }
  })
}

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
