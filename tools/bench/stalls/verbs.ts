/** The calls beside which a heartbeat is measured, in the order in which they are made, and the server that they go to. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Value } from '@sixtables/engine'
import { entityBytes, unindexed } from '../../../packages/bench/src/sim/entities.ts'
import type { Connection } from '../wire/connection.ts'
import * as messages from '../wire/messages.ts'
import { kindOf } from '../wire/workloads.ts'

export interface Target {
  readonly port: number
  readonly connection: Connection
  /** Entities of the kind that is read. */
  readonly size: number
  /** Where exports are written. */
  readonly folder: string
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

const pause = (seconds: number) => () => sleep(seconds * 1000)

export const verbs: Readonly<Record<string, (target: Target) => Promise<unknown>>> = {
  'nothing, for 5 seconds': pause(5),
  'lookup of 1 key': ({ connection, size }) =>
    connection.ask('Lookup', messages.lookup(kindOf(size), manyNames.slice(0, 1))),
  'lookup of 1,000 keys': ({ connection, size }) => connection.ask('Lookup', messages.lookup(kindOf(size), manyNames)),
  'query by kind, 20,000 results': queried({}, 20_000),
  'first use of a property': queried({ filter: equal('rank', { integerValue: '5' }) }),
  'first order': queried({ order: [{ property: { name: 'score' }, direction: 'DESCENDING' }], limit: 20 }),
  'first merge join': queried({
    filter: and(equal('cat', { stringValue: 'c1' }), equal('score', { integerValue: '7' })),
  }),
  'composite index, built for a query': queried({
    filter: equal('cat', { stringValue: 'c1' }),
    order: [{ property: { name: 'rank' } }],
    limit: 20,
  }),
  count: aggregated({ count: {} }),
  sum: aggregated({ sum: { property: { name: 'rank' } } }),
  'average of an order': aggregated({ avg: { property: { name: 'score' } } }),
  'offset of 100,000': queried({ offset: 100_000, limit: 1 }),
  'writing vectors, a tenth': writeVectors,
  'find_nearest over them': (target) => query(target, { kind: [{ name: vectorKind }], findNearest: nearest }),
  __namespace__: special('__namespace__'),
  __kind__: special('__kind__'),
  __property__: special('__property__'),
  __Stat_Total__: special('__Stat_Total__'),
  '__Stat_Kind__ (sixtables stats)': special('__Stat_Kind__'),
  findings: got('/emulator/findings'),
  heat: got('/emulator/heat'),
  tablets: got('/emulator/tablets'),
  '10 seconds after that': pause(10),
  'inspect table': got('/emulator/inspect/table?name=EntitiesByPropertyDesc&limit=10'),
  'inspect log': (target) =>
    call(target, `/emulator/inspect/log?project=bench&key=${kindOf(target.size)}:${encodeURIComponent('"t0000001"')}`),
  'commit of 500': (target) => commitMany(target, 500),
  'commit of 20,000 (5 MB)': (target) => commitMany(target, 20_000),
  'JSON commit of 20,000 (9 MB)': (target) => {
    const mutations = Array.from({ length: 20_000 }, (_, i) => ({
      upsert: { ...messages.jsonEntity('Json', i), key: messages.jsonKey('Json', messages.nameOf(i)) },
    }))
    return commitInJson(target, mutations)
  },
  [`commit of ${deletes.toLocaleString('en')} deletes (5 MB)`]: ({ connection }) =>
    connection.ask('Commit', messages.deletion('Gone', deletes)),
  [`JSON commit of ${deletes.toLocaleString('en')} deletes (17 MB)`]: (target) => {
    const keys = Array.from({ length: deletes }, (_, i) => messages.jsonKey('Gone', messages.nameOf(i)))
    const mutations = keys.map((key) => ({ delete: key }))
    return commitInJson(target, mutations)
  },
  [`${readers} clients that read 300 entities in JSON`]: (target) => {
    const query = { ...kind(target), limit: 300 }
    return Promise.all(Array.from({ length: readers }, () => call(target, '/v1/projects/bench:runQuery', { query })))
  },
  [`${watchers} watchers at 100 ms, for ${watchMs / 1000} seconds`]: (target) =>
    Promise.allSettled(Array.from({ length: watchers }, () => watch(target))),
  check: (target) => call(target, '/emulator/inspect/check', {}),
  export: (target) => call(target, '/emulator/v1/projects/bench:export', { export_directory: target.folder }),
  reset: (target) => call(target, '/reset', {}),
}
