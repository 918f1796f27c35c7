/**
 * A recording: the calls that a server gets, as lines of JSON, for a file or a stream.
 *
 *   {"format":"sixtables-recording","version":1,"startedAt":"2026-…","values":false}     first
 *   {"ms":12.3,"method":"lookup","project":"demo",…}                                      a call, when it has ended
 *   {"lost":40}                                                                           calls that the reader was too slow for
 *
 * Without `values` no line has a value of a property or a filter; keys are always recorded. Readers share the text of a call: their lines
 * differ in `ms` and `transaction` only. Lines wait in at most {@link waitingBytesMax} of memory; further calls are counted as lost, and the
 * server waits for no reader. docs/reference/recordings.md describes each member.
 */

import {
  decodeProperties,
  encodeKey,
  encodeValue,
  type Filter,
  formatKeyPath,
  type Key,
  type Mutation,
  type Query,
  type Value,
} from '@sixtables/engine'
import { dataMethodOf } from '../methods.ts'
import { type CallFacts, keyOfMutation } from './call-facts.ts'
import type { CallReport, Calls } from './calls.ts'
import { type Line, LineQueue, SharedWords, sharedWords, textOf } from './line-queue.ts'

export const recordingFormat = 'sixtables-recording'
export const recordingVersion = 1

/** Maximum number of characters in all lines that wait for a reader. */
export const waitingBytesMax: number = 16 * 1024 * 1024
/** Maximum number of open transactions with a number. The oldest loses its number, and gets another one if it is used again. */
const transactionsMax = 10_000

/** The text of a call after `ms` and `transaction`, with values and without. */
const wordsWithValues = sharedWords((report: CallReport) => JSON.stringify(recordedCall(report, true)).slice(1))
const wordsWithout = sharedWords((report: CallReport) => JSON.stringify(recordedCall(report, false)).slice(1))

export async function* recordedLines(...asked: Parameters<typeof recordLines>): AsyncGenerator<readonly string[]> {
  for await (const lines of recordLines(...asked)) yield lines.map(textOf)
}

/**
 * The lines of a recording in batches. It starts at the first `next()`, which gives the header, and ends with the last line after the
 * signal aborts.
 */
export async function* recordLines(
  calls: Calls,
  { values }: { readonly values: boolean },
  signal: AbortSignal,
): AsyncGenerator<readonly Line[]> {
  const startedAtMs = performance.now()
  const numberOf = transactionNumbers()
  const queue = new LineQueue(waitingBytesMax)
  const wordsOf = values ? wordsWithValues : wordsWithout
  const stop = calls.observe((report) => {
    queue.add(() => {
      const beganAtMs = performance.now() - report.durationMs - startedAtMs
      // The call may have begun before the recording.
      const ms = roundedMs(Math.max(0, beganAtMs))
      const head = JSON.stringify({ ms, transaction: numberOf(report) })
      return { head: `${head.slice(0, -1)},`, words: wordsOf(report) }
    })
  })
  try {
    const startedAt = new Date().toISOString()
    const header = { format: recordingFormat, version: recordingVersion, startedAt, values }
    yield [{ head: '', words: new SharedWords(JSON.stringify(header)) }]
    yield* queue.batches(signal)
  } finally {
    stop()
  }
}

/** Gives numbers to the tokens of open transactions, in the order of their first use. */
function transactionNumbers(): (report: CallReport) => number | undefined {
  const numbers = new Map<string, number>()
  let last = 0
  return ({ facts, code }) => {
    const token = facts?.given?.transaction ?? facts?.asked.transaction
    if (facts === undefined || token === undefined) return undefined
    const name = Buffer.from(token).toString('base64')
    const number = numbers.get(name) ?? ++last
    const isOver = facts.method === 'rollback' || (facts.method === 'commit' && (code === 'OK' || code === 'ABORTED'))
    if (isOver) numbers.delete(name)
    else numbers.set(name, number)
    const [oldest] = numbers.keys()
    if (numbers.size > transactionsMax && oldest !== undefined) numbers.delete(oldest)
    return number
  }
}

/** A part of a line; absent members are left out, or `undefined`, which JSON leaves out. */
type Recorded = Readonly<Record<string, unknown>>

/**
 * The part of a line that is the same in every recording, with entities and the values of filters or without:
 *
 *   {"method": "commit", "project": "demo", …, "mutations": [{"operation": "upsert", "key": "ToDo:1", "bytes": 34, "indexed": {"done": 1}}]}
 */
export function recordedCall(report: CallReport, values: boolean): Recorded {
  const { facts, code } = report
  const method = dataMethodOf(report.method)
  const end = { code, tookMs: roundedMs(report.durationMs) }
  if (facts === undefined) return { method, ...end }
  return { method, project: facts.projectId, database: facts.databaseId, ...end, ...contentOf(facts, values) }
}

function contentOf(facts: CallFacts, values: boolean): Recorded {
  const { keys, query, mutations, aggregations } = facts.asked
  const given = facts.given?.keys
  return {
    keys: keys?.map((key, i) => recordedKey(given?.[i] ?? key)),
    query: query && {
      ...recordedQuery(query, values),
      aggregations: aggregations?.map((one) =>
        one.operator === 'count' ? 'count' : `${one.operator}:${one.property}`,
      ),
    },
    mutations: mutations?.map((mutation, i) =>
      recordedMutation(mutation, given?.[i] ?? keyOfMutation(mutation, facts), values),
    ),
  }
}

function recordedKey({ partition: { namespaceId }, path }: Key): Recorded {
  return { key: formatKeyPath(path), ...(namespaceId === '' ? {} : { namespace: namespaceId }) }
}

function recordedMutation(mutation: Mutation, key: Key, values: boolean): Recorded {
  const what = { operation: mutation.operation, ...recordedKey(key) }
  if (mutation.operation === 'delete') return what
  const { entity } = mutation
  const sizes = { ...what, bytes: entity.length, indexed: indexedOf(entity) }
  return values ? { ...sizes, entity: base64(entity) } : sizes
}

/** Bytes of each indexed value, or element, by property. Empty for an entity that does not decode, which the engine refuses. */
function indexedOf(entity: Uint8Array): Recorded {
  try {
    const entries = [...decodeProperties(entity)].flatMap(([name, value]): [string, number | readonly number[]][] => {
      if (value.excludeFromIndexes === true) return []
      if (value.type !== 'array') return [[name, sizeOf(value)]]
      const elements = value.values.filter((element) => element.excludeFromIndexes !== true)
      return elements.length === 0 ? [] : [[name, elements.map(sizeOf)]]
    })
    return Object.fromEntries(entries)
  } catch {
    return {}
  }
}

function recordedQuery(query: Query, values: boolean): Recorded {
  const { partition, kind, projection, filter, order, distinctOn, offset, limit, startCursor, nearest } = query
  const orders = order.map(({ property, direction }) => (direction === 'descending' ? `-${property}` : property))
  return {
    ...(partition.namespaceId === '' ? {} : { namespace: partition.namespaceId }),
    ...(kind === undefined ? {} : { kind }),
    ...(projection.length === 0 ? {} : { projection }),
    ...(filter === undefined ? {} : { filter: recordedFilter(filter, values) }),
    ...(orders.length === 0 ? {} : { order: orders }),
    ...(distinctOn.length === 0 ? {} : { distinctOn }),
    ...(offset === 0 ? {} : { offset }),
    ...(limit === undefined ? {} : { limit }),
    ...(startCursor === undefined ? {} : { fromCursor: true }),
    ...(nearest === undefined ? {} : { nearest: nearest.property }),
  }
}

function recordedFilter(filter: Filter, values: boolean): Recorded {
  if (filter.type === 'composite') {
    const filters = filter.filters.map((one) => recordedFilter(one, values))
    return filter.operator === 'and' ? { and: filters } : { or: filters }
  }
  const { property, operator, value } = filter
  const shape = { property, operator, bytes: sizeOf(value) }
  // Keys are recorded without `values`, too: they show where the load is.
  const keyed = value.type === 'key' ? { ...shape, ...recordedKey(value.key) } : shape
  return values ? { ...keyed, value: base64(encodeValue(value)) } : keyed
}

/** Bytes of a value's content, without the message around it: 5 for the text `hello`. */
function sizeOf(value: Value): number {
  switch (value.type) {
    case 'string':
      return Buffer.byteLength(value.value)
    case 'blob':
      return value.value.length
    case 'key':
      return encodeKey(value.key).length
    case 'null':
    case 'boolean':
      return 1
    case 'integer':
    case 'double':
    case 'timestamp':
      return 8
    case 'geoPoint':
      return 16
    case 'array':
    case 'entity':
      return encodeValue(value).length
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}

export function roundedMs(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
