/**
 * What the load generator asks for. Each workload first checks one answer: a fast wrong answer must not count. Lookups and
 * queries read the kind of workload.ts; sizes of the growth run have kinds of their own.
 */

import { closedLoop, type LoopOptions, type LoopResult } from './closed-loop.ts'
import type { Connection } from './connection.ts'
import { httpWorkloads } from './http-workloads.ts'
import * as messages from './messages.ts'
import { hot, hotSize, kindOf, must, pick, type Workload } from './workload.ts'

const counterName = 'counter'

type Steps = LoopOptions['steps']

function simple(workload: Omit<Workload, 'measure'>, steps: Steps): Workload {
  return { ...workload, measure: (how) => closedLoop({ ...how, steps }) }
}

/** One call of a method, its messages made beforehand. */
function prepared(method: messages.MethodName, count: number, make: (i: number) => messages.Bytes): Steps {
  const made = Array.from({ length: count }, (_, i) => make(i))
  const first = made[0] ?? new Uint8Array(0)
  return [{ method, message: (i) => made[i % count] ?? first }]
}

function queryWorkload(size: number, isComposite: boolean): Workload {
  const kind = kindOf(size)
  const shape = (i: number): messages.QueryShape => ({
    kind,
    category: `c${i % messages.categories}`,
    orderByScore: isComposite,
    limit: 20,
  })
  return simple(
    {
      name: `${isComposite ? 'composite' : 'equality'}-${size}`,
      title: `${isComposite ? 'equality + order' : 'equality'}, limit 20 of ${size.toLocaleString('en')}`,
      size,
      streams: 16,
      async check(connection) {
        const page = messages.answers.page(await connection.ask('RunQuery', messages.runQuery(shape(7))))
        const wanted = Math.min(20, size / messages.categories)
        must(page.results === wanted, `${page.results} results instead of ${wanted}`)
      },
    },
    prepared('RunQuery', messages.categories, (i) => messages.runQuery(shape(i))),
  )
}

export function equalityQuery(size: number): Workload {
  return queryWorkload(size, false)
}

export const workloads: readonly Workload[] = [
  simple(
    {
      name: 'lookup',
      title: 'lookup of 1 key',
      size: hotSize,
      streams: 16,
      async check(connection) {
        const answer = await connection.ask('Lookup', messages.lookup(hot, [pick(3, hotSize)]))
        must(messages.answers.found(answer) === 1, 'a lookup finds nothing')
      },
    },
    prepared('Lookup', 2000, (i) => messages.lookup(hot, [pick(i, hotSize)])),
  ),
  simple(
    {
      name: 'lookup25',
      title: 'lookup of 25 keys',
      size: hotSize,
      streams: 16,
      async check(connection) {
        const names = Array.from({ length: 25 }, (_, i) => pick(i, hotSize))
        const answer = await connection.ask('Lookup', messages.lookup(hot, names))
        must(messages.answers.found(answer) === 25, 'a lookup of 25 keys finds fewer')
      },
    },
    prepared('Lookup', 200, (i) => {
      return messages.lookup(
        hot,
        Array.from({ length: 25 }, (_, j) => pick(i * 25 + j, hotSize)),
      )
    }),
  ),
  simple(
    {
      name: 'upsert',
      title: 'upsert of 1, automatic id',
      size: 0,
      streams: 16,
      async check(connection) {
        const answer = await connection.ask('Commit', messages.commit([messages.entity('Sample', undefined, 1)]))
        must(messages.answers.written(answer) === 1, 'a commit of 1 has another number of results')
      },
    },
    prepared('Commit', 1000, (i) => messages.commit([messages.entity('Auto', undefined, i)])),
  ),
  simple(
    {
      name: 'upsert100',
      title: 'commit of 100 upserts',
      size: 0,
      streams: 16,
      async check(connection) {
        const batch = Array.from({ length: 100 }, (_, i) => messages.entity('Sample', undefined, i))
        const answer = await connection.ask('Commit', messages.commit(batch))
        must(messages.answers.written(answer) === 100, 'a commit of 100 has another number of results')
      },
    },
    prepared('Commit', 20, (i) => {
      return messages.commit(Array.from({ length: 100 }, (_, j) => messages.entity('Batch', undefined, i * 100 + j)))
    }),
  ),
  simple(
    {
      name: 'transaction',
      title: 'begin + lookup + commit',
      size: hotSize,
      streams: 16,
      async check(connection) {
        must((await beginAndRead(connection)).found === 1, 'a lookup in a transaction finds nothing')
      },
    },
    transaction((i) => pick(i, hotSize), hot),
  ),
  {
    name: 'counter',
    title: 'one counter, transactions of 16 clients that succeed',
    size: hotSize,
    streams: 16,
    async check(connection) {
      await connection.ask('Commit', messages.commit([messages.entity('Counter', counterName, 0)]))
    },
    measure: (how) => closedLoop({ ...how, steps: transaction(() => counterName, 'Counter') }),
  },
  equalityQuery(hotSize),
  queryWorkload(hotSize, true),
  simple(
    {
      name: 'count',
      title: 'count() of 10,000',
      size: hotSize,
      streams: 1,
      async check(connection) {
        const counted = messages.answers.counted(await connection.ask('RunAggregationQuery', messages.count(hot)))
        must(counted === hotSize, `count() gives ${counted} of ${hotSize}`)
      },
    },
    prepared('RunAggregationQuery', 1, () => messages.count(hot)),
  ),
  {
    name: 'scan',
    title: 'all of 10,000, page after page',
    size: hotSize,
    streams: 1,
    async check(connection) {
      const seen = await scan(connection, hot)
      must(seen === hotSize, `a scan gives ${seen} of ${hotSize}`)
    },
    measure: ({ connection, timeMs }) => scans(connection, hot, timeMs),
  },
  ...httpWorkloads,
]

function transaction(name: (i: number) => string, kind: string): Steps {
  let token: messages.Bytes | undefined
  const tokens = new Map<number, messages.Bytes>()
  return [
    { method: 'BeginTransaction', message: () => messages.begin() },
    {
      method: 'Lookup',
      message: (i, before) => {
        token = messages.answers.transaction(before ?? new Uint8Array(0))
        tokens.set(i, Uint8Array.from(token))
        return messages.lookup(kind, [name(i)], token)
      },
    },
    {
      method: 'Commit',
      message: (i) => {
        const used = tokens.get(i) ?? new Uint8Array(0)
        tokens.delete(i)
        return messages.commit([messages.entity(kind, name(i), i)], used)
      },
    },
  ]
}

async function beginAndRead(connection: Connection): Promise<{ readonly found: number }> {
  const token = messages.answers.transaction(await connection.ask('BeginTransaction', messages.begin()))
  const found = messages.answers.found(await connection.ask('Lookup', messages.lookup(hot, [pick(5, hotSize)], token)))
  await connection.ask('Commit', messages.commit([messages.entity(hot, pick(5, hotSize), 5)], token))
  return { found }
}

/** Reads a kind to its end. @returns how many entities came */
async function scan(connection: Connection, kind: string): Promise<number> {
  let seen = 0
  let startCursor: messages.Bytes | undefined
  for (;;) {
    const query = startCursor === undefined ? { kind } : { kind, startCursor }
    const page = messages.answers.page(await connection.ask('RunQuery', messages.runQuery(query)))
    seen += page.results
    if (page.isLast || page.results === 0) return seen
    startCursor = Uint8Array.from(page.cursor)
  }
}

async function scans(connection: Connection, kind: string, timeMs: number): Promise<LoopResult> {
  const times: number[] = []
  const begun = performance.now()
  while (performance.now() - begun < timeMs || times.length < 2) {
    const from = performance.now()
    await scan(connection, kind)
    times.push(performance.now() - from)
  }
  const seconds = (performance.now() - begun) / 1000
  times.sort((a, b) => a - b)
  const middle = times[Math.floor(times.length / 2)] ?? 0
  const most = times.at(-1) ?? 0
  const operations = times.length
  return { operations, failures: 0, seconds, perSecond: operations / seconds, p50Ms: middle, p99Ms: most, maxMs: most }
}

/** Writes tasks [0, size) of a kind, 500 a commit. */
export async function load(connection: Connection, size: number): Promise<void> {
  const kind = kindOf(size)
  for (let from = 0; from < size; from += 500) {
    const batch = Array.from({ length: Math.min(500, size - from) }, (_, i) => {
      return messages.entity(kind, messages.nameOf(from + i), from + i)
    })
    await connection.ask('Commit', messages.commit(batch))
  }
}
