/**
 * What the load generator asks for. Each workload first checks one answer: a fast wrong answer must not count. Lookups and
 * queries read a kind by its size, such as T10000 with 10,000 tasks.
 */
import type { Caller, Connection, ContentType } from './connection.ts'
import * as messages from './messages.ts'

export interface Workload {
  readonly title: string
  /** Whether the kind of 10,000 tasks must be there. */
  readonly reads: boolean
  readonly streams: number
  /** Over HTTP/1.1, with bodies of this type. */
  readonly http?: ContentType
  /** @throws when an answer is not what it must be */
  check(caller: Caller): Promise<void>
  operation(caller: Caller, i: number): Promise<unknown>
}

export const hotSize = 10_000

export function kindOf(size: number): string {
  return `T${size}`
}

const hot = kindOf(hotSize)

/** The name of one of so many tasks: spread, the same at each run. */
function pick(i: number, size: number): string {
  return messages.nameOf((Math.imul(i + 1, 0x9e3779b1) >>> 0) % size)
}

export function must(isRight: boolean, what: string): void {
  if (!isRight) throw new Error(`a sample answer is wrong: ${what}`)
}

const counterName = 'counter'

/** One call of a method, whose messages are made beforehand and sent in turn. */
interface Prepared extends Pick<Workload, 'title' | 'http'> {
  readonly method: messages.MethodName
  readonly reads?: boolean
  readonly streams?: number
  /** How many different requests there are. */
  readonly count: number
  request(i: number): messages.Bytes
  /** The part of an answer that is checked; the answer to the first request must have `wanted` there. */
  sample(answer: messages.Bytes): unknown
  readonly wanted: unknown
}

function prepared({ method, count, request, sample, wanted, ...workload }: Prepared): Workload {
  let made: readonly messages.Bytes[] | undefined
  return {
    reads: true,
    streams: 16,
    ...workload,
    async check(caller) {
      const found = sample(await caller.ask(method, request(0)))
      must(found === wanted, `${workload.title}: ${found} instead of ${wanted}`)
    },
    operation(caller, i) {
      made ??= Array.from({ length: count }, (_, n) => request(n))
      return caller.ask(method, made[i % count] ?? request(i))
    },
  }
}

export function queryWorkload(size: number, isComposite = false): Workload {
  return prepared({
    title: `${isComposite ? 'equality + order' : 'equality'}, limit 20 of ${size.toLocaleString('en')}`,
    method: 'RunQuery',
    count: messages.categories,
    request: (i) =>
      messages.runQuery({
        kind: kindOf(size),
        category: `c${i % messages.categories}`,
        orderByScore: isComposite,
        limit: 20,
      }),
    sample: (answer) => messages.answers.page(answer).results,
    wanted: Math.min(20, size / messages.categories),
  })
}

const bytesOfJson = (body: object): messages.Bytes => Buffer.from(JSON.stringify(body))
const parsed = (answer: messages.Bytes) => JSON.parse(Buffer.from(answer).toString())

const manyPicked = (from: number): string[] => Array.from({ length: 25 }, (_, j) => pick(from + j, hotSize))

export const workloads: Readonly<Record<string, Workload>> = {
  lookup: prepared({
    title: 'lookup of 1 key',
    method: 'Lookup',
    count: 2000,
    request: (i) => messages.lookup(hot, [pick(i, hotSize)]),
    sample: messages.answers.found,
    wanted: 1,
  }),
  lookup25: prepared({
    title: 'lookup of 25 keys',
    method: 'Lookup',
    count: 200,
    request: (i) => messages.lookup(hot, manyPicked(i * 25)),
    sample: messages.answers.found,
    wanted: 25,
  }),
  upsert: prepared({
    title: 'upsert of 1, automatic id',
    reads: false,
    method: 'Commit',
    count: 1000,
    request: (i) => messages.commit([messages.entity('Auto', undefined, i)]),
    sample: messages.answers.written,
    wanted: 1,
  }),
  upsert100: prepared({
    title: 'commit of 100 upserts',
    reads: false,
    method: 'Commit',
    count: 20,
    request: (i) =>
      messages.commit(Array.from({ length: 100 }, (_, j) => messages.entity('Batch', undefined, i * 100 + j))),
    sample: messages.answers.written,
    wanted: 100,
  }),
  transaction: {
    title: 'begin + lookup + commit',
    reads: true,
    streams: 16,
    async check(caller) {
      const found = await transaction(caller, hot, pick(5, hotSize), 5)
      must(found === 1, 'a lookup in a transaction finds nothing')
    },
    operation: (caller, i) => transaction(caller, hot, pick(i, hotSize), i),
  },
  counter: {
    title: 'one counter, transactions of 16 clients that succeed',
    reads: true,
    streams: 16,
    async check(caller) {
      await caller.ask('Commit', messages.commit([messages.entity('Counter', counterName, 0)]))
    },
    operation: (caller, i) => transaction(caller, 'Counter', counterName, i),
  },
  [`equality-${hotSize}`]: queryWorkload(hotSize),
  [`composite-${hotSize}`]: queryWorkload(hotSize, true),
  count: prepared({
    title: 'count() of 10,000',
    streams: 1,
    method: 'RunAggregationQuery',
    count: 1,
    request: () => messages.count(hot),
    sample: messages.answers.counted,
    wanted: hotSize,
  }),
  scan: {
    title: 'all of 10,000, page after page',
    reads: true,
    streams: 1,
    async check(caller) {
      const seen = await scan(caller, hot)
      must(seen === hotSize, `a scan gives ${seen} of ${hotSize}`)
    },
    operation: (caller) => scan(caller, hot),
  },
  'lookup-json': prepared({
    title: 'lookup of 1 key over HTTP JSON',
    method: 'Lookup',
    http: 'application/json',
    count: 2000,
    request: (i) => bytesOfJson({ keys: [messages.jsonKey(hot, pick(i, hotSize))] }),
    sample: (answer) => parsed(answer).found?.[0]?.entity.key.path[0]?.name,
    wanted: pick(0, hotSize),
  }),
  'lookup-protobuf': prepared({
    title: 'lookup of 1 key over HTTP protobuf',
    method: 'Lookup',
    http: 'application/x-protobuf',
    count: 2000,
    request: (i) => messages.lookup(hot, [pick(i, hotSize)]),
    sample: messages.answers.found,
    wanted: 1,
  }),
  'upsert-json': prepared({
    title: 'upsert of 1 over HTTP JSON, automatic id',
    reads: false,
    method: 'Commit',
    http: 'application/json',
    count: 1000,
    request: (i) =>
      bytesOfJson({ mode: 'NON_TRANSACTIONAL', mutations: [{ upsert: messages.jsonEntity('AutoJson', i) }] }),
    sample: (answer) => Number(parsed(answer).mutationResults?.[0]?.key?.path[0]?.id) > 0,
    wanted: true,
  }),
}

/** @returns how many entities its lookup found */
async function transaction(caller: Caller, kind: string, name: string, i: number): Promise<number> {
  const begun = messages.answers.transaction(await caller.ask('BeginTransaction', messages.begin()))
  // The answer is a part of the bytes that were read with it.
  const token = Uint8Array.from(begun)
  const found = messages.answers.found(await caller.ask('Lookup', messages.lookup(kind, [name], token)))
  await caller.ask('Commit', messages.commit([messages.entity(kind, name, i)], token))
  return found
}

/** Reads a kind to its end. @returns how many entities came */
async function scan(caller: Caller, kind: string): Promise<number> {
  let seen = 0
  let startCursor: messages.Bytes | undefined
  for (;;) {
    const query = startCursor === undefined ? { kind } : { kind, startCursor }
    const page = messages.answers.page(await caller.ask('RunQuery', messages.runQuery(query)))
    seen += page.results
    if (page.isLast || page.results === 0) return seen
    startCursor = Uint8Array.from(page.cursor)
  }
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
