/** The calls beside which a heartbeat is measured, in the order in which they are made, and the server that they go to. */
import type { Value } from '@sixtables/engine'
import { entityBytes, unindexed } from '../../../packages/bench/src/sim/entities.ts'
import type { Connection } from '../wire/connection.ts'
import * as messages from '../wire/messages.ts'
import { kindOf } from '../wire/workload.ts'

export interface Target {
  readonly port: number
  readonly connection: Connection
  /** Entities of the kind that is read. */
  readonly size: number
  /** An empty folder for what is exported. */
  readonly folder: string
}

export interface Verb {
  readonly name: string
  run(target: Target): Promise<void>
}

/** Calls an HTTP path. @throws with the server's words when it refuses */
async function call(
  { port }: Target,
  path: string,
  body?: unknown,
  method: string = body === undefined ? 'GET' : 'POST',
): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 300)}`)
  return text
}

const vectorKind = 'V'
const dimensions = 64

interface Batch {
  readonly entityResults?: readonly unknown[]
  readonly skippedResults?: number
  readonly endCursor?: string
  readonly moreResults: string
}

/** Runs a query as clients do, answer after answer, up to so many results. */
async function query(target: Target, words: Readonly<Record<string, unknown>>, resultsMax = Number.POSITIVE_INFINITY) {
  let [startCursor, offset, results]: [string | undefined, number, number] = [
    undefined,
    Number(words['offset'] ?? 0),
    0,
  ]
  for (;;) {
    const asked = { ...words, offset, ...(startCursor === undefined ? {} : { startCursor }) }
    const { batch } = JSON.parse(await call(target, '/v1/projects/bench:runQuery', { query: asked })) as {
      batch: Batch
    }
    results += batch.entityResults?.length ?? 0
    offset -= batch.skippedResults ?? 0
    if (batch.moreResults !== 'NOT_FINISHED' || results >= resultsMax) return
    startCursor = batch.endCursor
  }
}

const kind = ({ size }: Target): object => ({ kind: [{ name: kindOf(size) }] })
const equal = (name: string, value: object): object => ({
  propertyFilter: { property: { name }, op: 'EQUAL', value },
})
const and = (...filters: readonly object[]): object => ({ compositeFilter: { op: 'AND', filters } })

const queried =
  (words: (target: Target) => object, resultsMax?: number) =>
  (target: Target): Promise<void> =>
    query(target, { ...kind(target), ...words(target) }, resultsMax)

const aggregated =
  (aggregation: object, words: object = {}) =>
  async (target: Target): Promise<void> => {
    const nestedQuery = { ...kind(target), ...words }
    const aggregationQuery = { nestedQuery, aggregations: [{ alias: 'a', ...aggregation }] }
    await call(target, '/v1/projects/bench:runAggregationQuery', { aggregationQuery })
  }

const special = (name: string) => (target: Target) => query(target, { kind: [{ name }] })

const got = (path: string) => async (target: Target) => {
  await call(target, path)
}

async function writeVectors({ connection, size }: Target): Promise<void> {
  for (let from = 0; from < size / 10; from += 500) {
    const batch = Array.from({ length: 500 }, (_, i) => {
      const values = Array.from(
        { length: dimensions },
        (_, d): Value => ({ type: 'double', value: Math.sin(from + i + d) }),
      )
      const v = unindexed({ type: 'array', values, meaning: 31 })
      return entityBytes(messages.keyOf(vectorKind, messages.nameOf(from + i)), { v })
    })
    await connection.ask('Commit', messages.commit(batch))
  }
}

const nearest = {
  vectorProperty: { name: 'v' },
  queryVector: {
    arrayValue: { values: Array.from({ length: dimensions }, () => ({ doubleValue: 0.5 })) },
    meaning: 31,
  },
  distanceMeasure: 'EUCLIDEAN',
  limit: 10,
}

const manyNames = Array.from({ length: 1000 }, (_, i) => messages.nameOf(i * 7))

/** A commit of so many entities of another kind, in one message. */
async function commitMany({ connection }: Target, count: number): Promise<void> {
  const batch = Array.from({ length: count }, (_, i) => messages.entity('Big', messages.nameOf(i), i))
  await connection.ask('Commit', messages.commit(batch))
}

/** Large requests, and many clients at once: their cost is that of their own size, whatever the store holds. */
const deletes = 200_000
const readers = 200
const watchers = 500
const watchMs = 10_000

/** Watches the tablets, and reads what comes. */
async function watch({ port }: Target): Promise<void> {
  const signal = AbortSignal.timeout(watchMs)
  const response = await fetch(`http://127.0.0.1:${port}/emulator/watch?interval=100`, { signal })
  for await (const _ of response.body ?? []) if (signal.aborted) return
}

export const verbs: readonly Verb[] = [
  { name: 'nothing, for 5 seconds', run: () => new Promise((resolve) => setTimeout(resolve, 5000)) },
  {
    name: 'lookup of 1 key',
    run: async ({ connection, size }) =>
      void (await connection.ask('Lookup', messages.lookup(kindOf(size), manyNames.slice(0, 1)))),
  },
  {
    name: 'lookup of 1,000 keys',
    run: async ({ connection, size }) =>
      void (await connection.ask('Lookup', messages.lookup(kindOf(size), manyNames))),
  },
  { name: 'query by kind, 20,000 results', run: queried(() => ({}), 20_000) },
  { name: 'first use of a property', run: queried(() => ({ filter: equal('rank', { integerValue: '5' }) })) },
  {
    name: 'first order',
    run: queried(() => ({ order: [{ property: { name: 'score' }, direction: 'DESCENDING' }], limit: 20 })),
  },
  {
    name: 'first merge join',
    run: queried(() => ({ filter: and(equal('cat', { stringValue: 'c1' }), equal('score', { integerValue: '7' })) })),
  },
  {
    name: 'composite index, built for a query',
    run: queried(() => ({
      filter: equal('cat', { stringValue: 'c1' }),
      order: [{ property: { name: 'rank' } }],
      limit: 20,
    })),
  },
  { name: 'count', run: aggregated({ count: {} }) },
  { name: 'sum', run: aggregated({ sum: { property: { name: 'rank' } } }) },
  { name: 'average of an order', run: aggregated({ avg: { property: { name: 'score' } } }) },
  { name: 'offset of 100,000', run: queried(() => ({ offset: 100_000, limit: 1 })) },
  { name: 'writing vectors, a tenth', run: writeVectors },
  {
    name: 'find_nearest over them',
    run: (target) => query(target, { kind: [{ name: vectorKind }], findNearest: nearest }),
  },
  { name: '__namespace__', run: special('__namespace__') },
  { name: '__kind__', run: special('__kind__') },
  { name: '__property__', run: special('__property__') },
  { name: '__Stat_Total__', run: special('__Stat_Total__') },
  { name: '__Stat_Kind__ (sixtables stats)', run: special('__Stat_Kind__') },
  { name: 'findings', run: got('/emulator/findings') },
  { name: 'heat', run: got('/emulator/heat') },
  { name: 'tablets', run: got('/emulator/tablets') },
  { name: '10 seconds after that', run: () => new Promise((resolve) => setTimeout(resolve, 10_000)) },
  { name: 'inspect table', run: got('/emulator/inspect/table?name=EntitiesByPropertyDesc&limit=10') },
  {
    name: 'inspect log',
    run: (target) =>
      got(`/emulator/inspect/log?project=bench&key=${kindOf(target.size)}:${encodeURIComponent('"t0000001"')}`)(target),
  },
  { name: 'commit of 500', run: (target) => commitMany(target, 500) },
  { name: 'commit of 20,000 (5 MB)', run: (target) => commitMany(target, 20_000) },
  {
    name: 'JSON commit of 20,000 (9 MB)',
    run: async (target) => {
      const mutations = Array.from({ length: 20_000 }, (_, i) => ({
        upsert: { ...messages.jsonEntity('Json', i), key: messages.jsonKey('Json', messages.nameOf(i)) },
      }))
      await call(target, '/v1/projects/bench:commit', { mode: 'NON_TRANSACTIONAL', mutations })
    },
  },
  {
    name: `commit of ${deletes.toLocaleString('en')} deletes (5 MB)`,
    run: async ({ connection }) => void (await connection.ask('Commit', messages.deletion('Gone', deletes))),
  },
  {
    name: `JSON commit of ${deletes.toLocaleString('en')} deletes (17 MB)`,
    run: async (target) => {
      const mutations = Array.from({ length: deletes }, (_, i) => ({
        delete: messages.jsonKey('Gone', messages.nameOf(i)),
      }))
      await call(target, '/v1/projects/bench:commit', { mode: 'NON_TRANSACTIONAL', mutations })
    },
  },
  {
    name: `${readers} clients that read 300 entities in JSON`,
    run: async (target) => {
      const query = { kind: [{ name: kindOf(target.size) }], limit: 300 }
      await Promise.all(Array.from({ length: readers }, () => call(target, '/v1/projects/bench:runQuery', { query })))
    },
  },
  {
    name: `${watchers} watchers at 100 ms, for ${watchMs / 1000} seconds`,
    run: async (target) => void (await Promise.allSettled(Array.from({ length: watchers }, () => watch(target)))),
  },
  { name: 'check', run: async (target) => void (await call(target, '/emulator/inspect/check', {})) },
  {
    name: 'export',
    run: async (target) =>
      void (await call(target, '/emulator/v1/projects/bench:export', { export_directory: target.folder })),
  },
  { name: 'reset', run: async (target) => void (await call(target, '/reset', {}, 'POST')) },
]
