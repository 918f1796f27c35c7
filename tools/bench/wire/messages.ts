/**
 * Requests of the Datastore API as bytes, and what a benchmark wants to know of their answers.
 *
 * Field numbers are those of google/datastore/v1/{datastore,entity,query}.proto. Entities are those of one kind of to-do:
 *
 *   Task "t0000042"   cat: one of 100 texts, score: 0 … 9,999, rank: its number, tag: 20 characters, note: 100, not indexed
 */
import { encodeKey, encodeProperties, encodeValue, type Key, type Properties, type Value } from '@sixtables/engine'

export type Bytes = Uint8Array

export const project = 'bench'
export const categories = 100

export type MethodName = 'Lookup' | 'Commit' | 'RunQuery' | 'RunAggregationQuery' | 'BeginTransaction'

export function keyOf(kind: string, name: string | undefined): Key {
  const partition = { projectId: project, databaseId: '', namespaceId: '' }
  return { partition, path: [name === undefined ? { kind } : { kind, name }] }
}

export function nameOf(i: number): string {
  return `t${String(i).padStart(7, '0')}`
}

function text(value: string): Value {
  return { type: 'string', value }
}

function propertiesOf(i: number): Properties {
  return new Map<string, Value>([
    ['cat', text(`c${i % categories}`)],
    ['score', { type: 'integer', value: BigInt(Math.imul(i, 0x9e3779b1) >>> 0) % 10_000n }],
    ['rank', { type: 'integer', value: BigInt(i) }],
    ['tag', text(`tag of ${nameOf(i)}`.padEnd(20, '.'))],
    ['note', { ...text('n'.repeat(100)), excludeFromIndexes: true }],
  ])
}

/** @param name - absent: the server gives an id */
export function entity(kind: string, name: string | undefined, i: number): Bytes {
  return entityWith(kind, name, propertiesOf(i))
}

export function entityWith(kind: string, name: string | undefined, properties: Properties): Bytes {
  return concat(field(1, encodeKey(keyOf(kind, name))), encodeProperties(properties))
}

/** A key as JSON has it. */
export function jsonKey(kind: string, name: string | undefined): object {
  return { partitionId: { projectId: project }, path: [name === undefined ? { kind } : { kind, name }] }
}

/** The same entity in JSON, for an automatic id. */
export function jsonEntity(kind: string, i: number): object {
  const properties: { [name: string]: object } = {}
  for (const [name, value] of propertiesOf(i)) {
    if (value.type === 'integer') properties[name] = { integerValue: String(value.value) }
    else if (value.type === 'string') {
      const excluded = value.excludeFromIndexes === true ? { excludeFromIndexes: true } : {}
      properties[name] = { stringValue: value.value, ...excluded }
    }
  }
  return { key: jsonKey(kind, undefined), properties }
}

export function lookup(kind: string, names: readonly string[], transaction?: Bytes): Bytes {
  const options = transaction === undefined ? empty : field(1, field(2, transaction))
  return concat(options, ...names.map((name) => field(3, encodeKey(keyOf(kind, name)))), field(8, utf8(project)))
}

/** Upserts, not transactional; with a transaction, in it. */
export function commit(entities: readonly Bytes[], transaction?: Bytes): Bytes {
  const mode = transaction === undefined ? varint(5, 2) : concat(field(1, transaction), varint(5, 1))
  return concat(mode, ...entities.map((one) => field(6, field(6, one))), field(8, utf8(project)))
}

/** A commit that deletes so many entities, by name. */
export function deletion(kind: string, count: number): Bytes {
  const deletes = Array.from({ length: count }, (_, i) => field(6, field(7, encodeKey(keyOf(kind, nameOf(i))))))
  return Buffer.concat([varint(5, 2), ...deletes, field(8, utf8(project))])
}

export function begin(): Bytes {
  return field(8, utf8(project))
}

export interface QueryShape {
  readonly kind: string
  readonly category?: string
  readonly orderByScore?: boolean
  readonly limit?: number
  readonly startCursor?: Bytes
}

/** google.datastore.v1.Query */
function query({ kind, category, orderByScore, limit, startCursor }: QueryShape): Bytes {
  const parts = [field(3, field(1, utf8(kind)))]
  if (category !== undefined) {
    const equal = concat(field(1, field(2, utf8('cat'))), varint(2, 5), field(3, encodeValue(text(category))))
    parts.push(field(4, field(2, equal)))
  }
  if (orderByScore === true) parts.push(field(5, concat(field(1, field(2, utf8('score'))), varint(2, 2))))
  if (startCursor !== undefined) parts.push(field(7, startCursor))
  if (limit !== undefined) parts.push(field(12, varint(1, limit)))
  return concat(...parts)
}

export function runQuery(shape: QueryShape): Bytes {
  return concat(field(3, query(shape)), field(8, utf8(project)))
}

export function count(kind: string): Bytes {
  const aggregation = concat(field(1, query({ kind })), field(3, field(1, empty)))
  return concat(field(3, aggregation), field(8, utf8(project)))
}

// -- Answers ----------------------------------------------------------------------------------------------------------

/** The values of a field that is a message, text or bytes, in order. */
export function fieldsOf(message: Bytes, number: number): Bytes[] {
  const found: Bytes[] = []
  for (let at = 0; at < message.length; ) {
    const tag = readVarint(message, at)
    at = tag.next
    const wire = tag.value & 7
    if (wire === 0) at = readVarint(message, at).next
    else if (wire === 1) at += 8
    else if (wire === 5) at += 4
    else {
      const length = readVarint(message, at)
      at = length.next + length.value
      if (tag.value >>> 3 === number) found.push(message.subarray(length.next, at))
    }
  }
  return found
}

/** The value of a varint field below 2^53; `undefined` when it is not there. */
export function numberOf(message: Bytes, number: number): number | undefined {
  for (let at = 0; at < message.length; ) {
    const tag = readVarint(message, at)
    const wire = tag.value & 7
    const value = readVarint(message, tag.next)
    if (wire === 0 && tag.value >>> 3 === number) return value.value
    at = wire === 0 ? value.next : wire === 2 ? value.next + value.value : tag.next + (wire === 1 ? 8 : 4)
  }
  return undefined
}

export const answers = {
  /** Entities that a lookup found. */
  found: (message: Bytes): number => fieldsOf(message, 1).length,
  /** Mutation results of a commit. */
  written: (message: Bytes): number => fieldsOf(message, 3).length,
  transaction: (message: Bytes): Bytes => fieldsOf(message, 1)[0] ?? empty,
  /** Results of a query, the cursor behind them, and whether there may be more. */
  page(message: Bytes): { readonly results: number; readonly cursor: Bytes; readonly isLast: boolean } {
    const [batch = empty] = fieldsOf(message, 1)
    const more = numberOf(batch, 5)
    return { results: fieldsOf(batch, 2).length, cursor: fieldsOf(batch, 4)[0] ?? empty, isLast: more === 3 }
  },
  /** The count of an aggregation. */
  counted(message: Bytes): number {
    const [batch = empty] = fieldsOf(message, 1)
    const [result = empty] = fieldsOf(batch, 1)
    const [entry = empty] = fieldsOf(result, 2)
    const [value = empty] = fieldsOf(entry, 2)
    return numberOf(value, 2) ?? 0
  },
} as const

// -- Protocol buffers -------------------------------------------------------------------------------------------------

const empty = new Uint8Array(0)

function utf8(value: string): Bytes {
  return Buffer.from(value, 'utf8')
}

export function concat(...parts: readonly Bytes[]): Bytes {
  return Buffer.concat(parts)
}

function field(number: number, content: Bytes): Bytes {
  return concat(encodeVarint(number * 8 + 2), encodeVarint(content.length), content)
}

function varint(number: number, value: number): Bytes {
  return concat(encodeVarint(number * 8), encodeVarint(value))
}

function encodeVarint(value: number): Bytes {
  const bytes: number[] = []
  let rest = value
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80)
    rest = Math.floor(rest / 128)
  }
  bytes.push(rest)
  return Uint8Array.from(bytes)
}

function readVarint(bytes: Bytes, offset: number): { readonly value: number; readonly next: number } {
  let value = 0
  let scale = 1
  for (let at = offset; ; at++) {
    const byte = bytes[at] ?? 0
    value += (byte & 0x7f) * scale
    if (byte < 0x80) return { value, next: at + 1 }
    scale *= 128
  }
}
