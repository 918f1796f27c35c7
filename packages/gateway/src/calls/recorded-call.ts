/**
 * One call as a line of a recording (recording.ts): the keys and queries that it read or wrote; values only on demand. The fields are described
 * in docs/reference/recordings.md.
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
import type { CallReport } from './calls.ts'

/** A key in the form of {@link formatKeyPath}; `namespace` is absent for the default one. */
export interface RecordedKey {
  readonly key: string
  readonly namespace?: string
}

export interface RecordedMutation extends RecordedKey {
  readonly operation: Mutation['operation']
  /** Bytes of the encoded entity. */
  readonly bytes?: number
  /** Bytes of each indexed value, by property; for an array, of each element. */
  readonly indexed?: Readonly<Record<string, number | readonly number[]>>
  /** The google.datastore.v1.Entity in base64. */
  readonly entity?: string
}

export type RecordedFilter =
  | { readonly and: readonly RecordedFilter[] }
  | { readonly or: readonly RecordedFilter[] }
  | ({
      readonly property: string
      readonly operator: string
      /** Size of the value in bytes. */
      readonly bytes: number
      /** The google.datastore.v1.Value in base64. */
      readonly value?: string
    } & Partial<RecordedKey>)

export interface RecordedQuery {
  readonly namespace?: string
  readonly kind?: string
  readonly projection?: readonly string[]
  readonly filter?: RecordedFilter
  /** A leading `-` means descending. */
  readonly order?: readonly string[]
  readonly distinctOn?: readonly string[]
  readonly offset?: number
  readonly limit?: number
  /** Present if it continues from a cursor. */
  readonly fromCursor?: true
  /** The vector property of a nearest-neighbour search. */
  readonly nearest?: string
  /** For example `count`, `sum:amount`. */
  readonly aggregations?: readonly string[] | undefined
}

export interface RecordedCall {
  /** Start of the call, in milliseconds since the start of the recording. */
  readonly ms: number
  readonly method: string
  readonly project?: string
  readonly database?: string
  readonly code: string
  readonly tookMs: number
  /** A number shared by the calls of one transaction, from 1 on. */
  readonly transaction?: number
  readonly keys?: readonly RecordedKey[] | undefined
  readonly query?: RecordedQuery | undefined
  readonly mutations?: readonly RecordedMutation[] | undefined
}

/**
 * The part of a line that is the same in every recording.
 *
 * @param values - whether entities and the values of filters are recorded
 */
export function recordedCall(report: CallReport, values: boolean): Omit<RecordedCall, 'ms' | 'transaction'> {
  const { facts, code } = report
  const method = dataMethodOf(report.method)
  const end = { code, tookMs: roundedMs(report.durationMs) }
  if (facts === undefined) return { method, ...end }
  return { method, project: facts.projectId, database: facts.databaseId, ...end, ...contentOf(facts, values) }
}

/** Absent parts are `undefined`, which JSON leaves out. */
function contentOf(facts: CallFacts, values: boolean): Pick<RecordedCall, 'keys' | 'query' | 'mutations'> {
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

function recordedKey({ partition: { namespaceId }, path }: Key): RecordedKey {
  return { key: formatKeyPath(path), ...(namespaceId === '' ? {} : { namespace: namespaceId }) }
}

function recordedMutation(mutation: Mutation, key: Key, values: boolean): RecordedMutation {
  const what = { operation: mutation.operation, ...recordedKey(key) }
  if (mutation.operation === 'delete') return what
  const { entity } = mutation
  const sizes = { ...what, bytes: entity.length, indexed: indexedOf(entity) }
  return values ? { ...sizes, entity: base64(entity) } : sizes
}

/** Empty for an entity that does not decode, which the engine refuses. */
function indexedOf(entity: Uint8Array): NonNullable<RecordedMutation['indexed']> {
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

function recordedQuery(query: Query, values: boolean): RecordedQuery {
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

function recordedFilter(filter: Filter, values: boolean): RecordedFilter {
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

/** Rounds to a microsecond. */
export function roundedMs(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
