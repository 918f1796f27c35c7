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
  /** Where exports are written. */
  readonly folder: string
}

export interface Verb {
  readonly name: string
  run(target: Target): Promise<unknown>
}

/** Calls an HTTP path. @throws with the server's words when it refuses */
async function call({ port }: Target, path: string, body?: unknown): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, sent)
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
  let startCursor: string | undefined
  let [offset, results] = [Number(words['offset'] ?? 0), 0]
  for (;;) {
    const asked = { query: { ...words, offset, startCursor } }
    const { batch } = JSON.parse(await call(target, '/v1/projects/bench:runQuery', asked)) as { batch: Batch }
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

const queried = (words: object, resultsMax?: number) => (target: Target) =>
  query(target, { ...kind(target), ...words }, resultsMax)

const aggregated = (aggregation: object) => (target: Target) => {
  const aggregationQuery = { nestedQuery: kind(target), aggregations: [{ alias: 'a', ...aggregation }] }
  return call(target, '/v1/projects/bench:runAggregationQuery', { aggregationQuery })
}

const special = (name: string) => (target: Target) => query(target, { kind: [{ name }] })

const got = (path: string) => (target: Target) => call(target, path)

const commitInJson = (target: Target, mutations: readonly object[]): Promise<string> =>
  call(target, '/v1/projects/bench:commit', { mode: 'NON_TRANSACTIONAL', mutations })

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
function commitMany({ connection }: Target, count: number): Promise<unknown> {
  const batch = Array.from({ length: count }, (_, i) => messages.entity('Big', messages.nameOf(i), i))
  return connection.ask('Commit', messages.commit(batch))
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
    run: ({ connection, size }) => connection.ask('Lookup', messages.lookup(kindOf(size), manyNames.slice(0, 1))),
  },
  {
    name: 'lookup of 1,000 keys',
    run: ({ connection, size }) => connection.ask('Lookup', messages.lookup(kindOf(size), manyNames)),
  },
  { name: 'query by kind, 20,000 results', run: queried({}, 20_000) },
  { name: 'first use of a property', run: queried({ filter: equal('rank', { integerValue: '5' }) }) },
  {
    name: 'first order',
    run: queried({ order: [{ property: { name: 'score' }, direction: 'DESCENDING' }], limit: 20 }),
  },
  {
    name: 'first merge join',
    run: queried({ filter: and(equal('cat', { stringValue: 'c1' }), equal('score', { integerValue: '7' })) }),
  },
  {
    name: 'composite index, built for a query',
    run: queried({
      filter: equal('cat', { stringValue: 'c1' }),
      order: [{ property: { name: 'rank' } }],
      limit: 20,
    }),
  },
  { name: 'count', run: aggregated({ count: {} }) },
  { name: 'sum', run: aggregated({ sum: { property: { name: 'rank' } } }) },
  { name: 'average of an order', run: aggregated({ avg: { property: { name: 'score' } } }) },
  { name: 'offset of 100,000', run: queried({ offset: 100_000, limit: 1 }) },
  { name: 'writing vectors, a tenth', run: writeVectors },
  {
    name: 'find_nearest over them',
    run: (target) => query(target, { kind: [{ name: vectorKind }], findNearest: nearest }),
  },
  ...['__namespace__', '__kind__', '__property__', '__Stat_Total__'].map((name) => ({ name, run: special(name) })),
  { name: '__Stat_Kind__ (sixtables stats)', run: special('__Stat_Kind__') },
  ...['findings', 'heat', 'tablets'].map((name) => ({ name, run: got(`/emulator/${name}`) })),
  { name: '10 seconds after that', run: () => new Promise((resolve) => setTimeout(resolve, 10_000)) },
  { name: 'inspect table', run: got('/emulator/inspect/table?name=EntitiesByPropertyDesc&limit=10') },
  {
    name: 'inspect log',
    run: (target) =>
      call(
        target,
        `/emulator/inspect/log?project=bench&key=${kindOf(target.size)}:${encodeURIComponent('"t0000001"')}`,
      ),
  },
  { name: 'commit of 500', run: (target) => commitMany(target, 500) },
  { name: 'commit of 20,000 (5 MB)', run: (target) => commitMany(target, 20_000) },
  {
    name: 'JSON commit of 20,000 (9 MB)',
    run: (target) => {
      const mutations = Array.from({ length: 20_000 }, (_, i) => ({
        upsert: { ...messages.jsonEntity('Json', i), key: messages.jsonKey('Json', messages.nameOf(i)) },
      }))
      return commitInJson(target, mutations)
    },
  },
  {
    name: `commit of ${deletes.toLocaleString('en')} deletes (5 MB)`,
    run: ({ connection }) => connection.ask('Commit', messages.deletion('Gone', deletes)),
  },
  {
    name: `JSON commit of ${deletes.toLocaleString('en')} deletes (17 MB)`,
    run: (target) => {
      const keys = Array.from({ length: deletes }, (_, i) => messages.jsonKey('Gone', messages.nameOf(i)))
      return commitInJson(
        target,
        keys.map((key) => ({ delete: key })),
      )
    },
  },
  {
    name: `${readers} clients that read 300 entities in JSON`,
    run: (target) => {
      const query = { ...kind(target), limit: 300 }
      return Promise.all(Array.from({ length: readers }, () => call(target, '/v1/projects/bench:runQuery', { query })))
    },
  },
  {
    name: `${watchers} watchers at 100 ms, for ${watchMs / 1000} seconds`,
    run: (target) => Promise.allSettled(Array.from({ length: watchers }, () => watch(target))),
  },
  { name: 'check', run: (target) => call(target, '/emulator/inspect/check', {}) },
  {
    name: 'export',
    run: (target) => call(target, '/emulator/v1/projects/bench:export', { export_directory: target.folder }),
  },
  { name: 'reset', run: (target) => call(target, '/reset', {}) },
]
