/**
 * Request messages: their lists are counted, then they are decoded, and the database that they name is checked.
 *
 * A query with a million filters in one composite filter is refused before an object is made of any of them:
 *
 *   RunQueryRequest { query 3 { projection 2, filter 4 { composite_filter 1 { filters 2 { … } } } … } … }
 *
 * Each limited list is counted separately; the engine counts nested filters together. Other lists have no limit, or are counted where
 * they are read.
 *
 * R1  A list that is longer than its limit is refused before an object is made of any of its elements, in messages and in
 *     JSON.                                                                test/property/repeated-fields.test.ts
 *
 * Over HTTP the path has the project, and a body with another one is refused (ours: both of Google's emulators never answer it, measured).
 * Over gRPC only the message counts; routing metadata is not read (measured).
 *
 * Known: google/datastore/v1/*.proto.
 */

import {
  checkPartCount,
  countedMax,
  DatastoreError,
  invalidArgument,
  type PartLimit,
  partLimits,
  validateDatabase,
} from '@sixtables/engine'
import protobuf from 'protobufjs/minimal.js'
import type { Call } from '../call.ts'
import type { MethodName } from '../methods.ts'
import type { DatabaseName } from './parameters.ts'

/** A limited list, or a message that contains limited lists. */
interface Part {
  readonly names: readonly string[]
  readonly limit?: PartLimit
  readonly inside?: Parts
}

interface LimitedPart extends Part {
  readonly limit: PartLimit
}
type Parts = Readonly<Record<number, Part>>

const filter: Record<number, Part> = {}
filter[1] = {
  names: ['compositeFilter', 'composite_filter'],
  inside: { 2: { names: ['filters'], limit: partLimits.queryComponents, inside: filter } },
}

const query: Parts = {
  2: { names: ['projection'], limit: partLimits.projectedProperties },
  3: { names: ['kind'], limit: partLimits.kinds },
  4: { names: ['filter'], inside: filter },
  5: { names: ['order'], limit: partLimits.queryComponents },
  6: { names: ['distinctOn', 'distinct_on'], limit: partLimits.distinctProperties },
}

const aggregationQuery: Parts = {
  1: { names: ['nestedQuery', 'nested_query'], inside: query },
  3: { names: ['aggregations'], limit: partLimits.aggregations },
}

const mask: Part = {
  names: ['propertyMask', 'property_mask'],
  inside: { 1: { names: ['paths'], limit: partLimits.maskPaths } },
}

const mutation: Parts = {
  9: mask,
  12: { names: ['propertyTransforms', 'property_transforms'], limit: partLimits.propertyTransforms },
}

const gqlQuery: Part = {
  names: ['gqlQuery', 'gql_query'],
  inside: {
    4: { names: ['positionalBindings', 'positional_bindings'], limit: partLimits.gqlBindings },
    5: { names: ['namedBindings', 'named_bindings'], limit: partLimits.gqlBindings },
  },
}

const requests: Readonly<Partial<Record<MethodName, Parts>>> = {
  Lookup: { 3: { names: ['keys'], limit: partLimits.lookupKeys }, 5: mask },
  RunQuery: { 3: { names: ['query'], inside: query }, 7: gqlQuery, 10: mask },
  RunAggregationQuery: {
    3: { names: ['aggregationQuery', 'aggregation_query'], inside: aggregationQuery },
    7: gqlQuery,
  },
  Commit: { 6: { names: ['mutations'], inside: mutation } },
}

/** By method, the bytes of its shortest list that is too long: an element takes two at least. A shorter message has none. */
const checkedFrom: ReadonlyMap<string, number> = new Map(
  Object.entries(requests).map(([method, parts]) => {
    const limits = new Map<string, PartLimit>()
    gather(parts, limits)
    return [method, Math.min(...[...limits.values()].map(({ max }) => 2 * (max + 1)))]
  }),
)

interface RequestDecoder<T> {
  decode(bytes: Uint8Array | protobuf.Reader): T
}

/** @throws INVALID_ARGUMENT for bytes that are not this method's request, and for lists that are too long */
export function decodeRequest<T>(decoder: RequestDecoder<T>, bytes: Buffer, method: MethodName): T {
  const parts = requests[method]
  if (parts !== undefined && bytes.length >= (checkedFrom.get(method) ?? 0)) checkLists(bytes, parts)
  try {
    return decoder.decode(readerOf(bytes))
  } catch (cause) {
    if (cause instanceof DatastoreError) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new DatastoreError('INVALID_ARGUMENT', `the bytes are not a ${method}Request: ${why}`, { cause })
  }
}

/** @returns the defaults for empty parts of keys and partitions in the request */
export function requestScope(request: DatabaseName, { pathProjectId }: Call): DatabaseName {
  const { projectId, databaseId } = request
  if (pathProjectId !== undefined && projectId !== '' && projectId !== pathProjectId) {
    throw invalidArgument(
      `the path names project "${pathProjectId}" and the body project "${projectId}"; leave projectId out of the body, ` +
        'or make them equal',
    )
  }
  const scope = { projectId: projectId === '' ? (pathProjectId ?? '') : projectId, databaseId }
  validateDatabase(scope)
  return scope
}

/** Checks the lists of a message. The decoder reports bytes that are no message. @throws INVALID_ARGUMENT for a list that is too long */
function checkLists(bytes: Uint8Array, parts: Parts): void {
  try {
    checkMessage(readerOf(bytes), bytes.length, parts, 0)
  } catch (error) {
    if (error instanceof DatastoreError) throw error
  }
}

/** A reader that refuses a message with more unknown fields than an entity may have. A smaller message cannot. */
function readerOf(bytes: Uint8Array): protobuf.Reader {
  const reader = protobuf.Reader.create(bytes)
  if (bytes.length <= partLimits.unknownFields.max) return reader
  let skipped = 0
  const skip = protobuf.Reader.prototype.skipType
  reader.skipType = (wireType, depth, field) => {
    checkPartCount(partLimits.unknownFields, ++skipped)
    return skip.call(reader, wireType, depth, field)
  }
  return reader
}

const depthMax = 100

function checkMessage(reader: protobuf.Reader, end: number, parts: Parts, depth: number): void {
  // Number of elements so far, by field of a limited list.
  let counts: Map<number, number> | undefined
  while (reader.pos < end) {
    const tag = reader.uint32()
    const number = tag >>> 3
    const part = parts[number]
    if (part === undefined || (tag & 7) !== 2) {
      reader.skipType(tag & 7)
      continue
    }
    const length = reader.uint32()
    const next = reader.pos + length
    const { inside, limit } = part
    let isTooLong = false
    if (limit !== undefined) {
      counts ??= new Map()
      const count = (counts.get(number) ?? 0) + 1
      counts.set(number, count)
      isTooLong = count > limit.max
      if (count > countedMax) throw limit.refusal(count)
    }
    if (inside !== undefined && depth < depthMax && !isTooLong) checkMessage(reader, next, inside, depth + 1)
    reader.pos = next
  }
  if (counts === undefined) return
  for (const [number, count] of counts) checkPartCount((parts[number] as LimitedPart).limit, count)
}

/** Limits of lists and maps in a JSON request by member name; under the empty name, of all members and elements together. */
export type ListLimits = ReadonlyMap<string, PartLimit>

/** Methods with a list of any length. */
const hasLongList: ReadonlySet<MethodName> = new Set(['Commit', 'AllocateIds', 'ReserveIds'])

/** More than a valid body of the greatest length has: 11 bytes for each, in paths of many elements. Reading them takes some 700 MB. */
const longListMembersMax = 2_000_000
const longListMembers: PartLimit = {
  max: longListMembersMax,
  refusal: () =>
    invalidArgument(
      `the body has more than ${longListMembersMax} members of objects and elements of lists; split the request`,
    ),
}

export function jsonListLimits(method: MethodName): ListLimits {
  // In a protobuf request keys and values are still bytes; their lists are counted when these are decoded.
  const limits = new Map<string, PartLimit>([['path', partLimits.pathElements]])
  limits.set('', hasLongList.has(method) ? longListMembers : partLimits.jsonMembers)
  if (method === 'RunQuery' || method === 'RunAggregationQuery') limits.set('values', partLimits.queryValues)
  gather(requests[method] ?? {}, limits)
  return limits
}

function gather(parts: Parts, limits: Map<string, PartLimit>): void {
  for (const { names, limit, inside } of Object.values(parts)) {
    if (names.some((name) => limits.has(name))) continue
    if (limit !== undefined) for (const name of names) limits.set(name, limit)
    if (inside !== undefined && inside !== parts) gather(inside, limits)
  }
}
