/**
 * Requests of the Datastore API as bytes, and the parts of their answers that a benchmark looks at.
 *
 * Field numbers are those of google/datastore/v1/{datastore,entity,query}.proto. Entities are those of one kind of to-do:
 *
 *   Task "t0000042"   cat: one of 100 texts, score: 0 … 9,999, rank: its number, tag: 20 characters, note: 100, not indexed
 */
import { encodeKey, encodeValue, type Key } from '@sixtables/engine'
import { entityBytes, type Fields, integer, text, unindexed } from '../../../packages/bench/src/sim/entities.ts'
import { bytesOf, contentsOf, type Message, numberOf } from '../../../packages/bench/src/sim/messages.ts'

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

function fieldsOf(i: number): Fields {
  return {
    cat: text(`c${i % categories}`),
    score: integer((Math.imul(i, 0x9e3779b1) >>> 0) % 10_000),
    rank: integer(i),
    tag: text(`tag of ${nameOf(i)}`.padEnd(20, '.')),
    note: unindexed(text('n'.repeat(100))),
  }
}

/** @param name - absent: the server gives an id */
export function entity(kind: string, name: string | undefined, i: number): Bytes {
  return entityBytes(keyOf(kind, name), fieldsOf(i))
}

export function jsonKey(kind: string, name: string | undefined): object {
  return { partitionId: { projectId: project }, path: keyOf(kind, name).path }
}

/** The same entity in JSON, for an automatic id. */
export function jsonEntity(kind: string, i: number): object {
  const properties: { [name: string]: object } = {}
  for (const [name, value] of Object.entries(fieldsOf(i))) {
    if (value.type === 'integer') properties[name] = { integerValue: String(value.value) }
    else if (value.type === 'string') {
      const excluded = value.excludeFromIndexes === true ? { excludeFromIndexes: true } : {}
      properties[name] = { stringValue: value.value, ...excluded }
    }
  }
  return { key: jsonKey(kind, undefined), properties }
}

export function lookup(kind: string, names: readonly string[], transaction?: Bytes): Bytes {
  const keys = names.map((name) => encodeKey(keyOf(kind, name)))
  return bytesOf({ 1: transaction && { 2: transaction }, 3: keys, 8: project })
}

/** Upserts, not transactional; with a transaction, in it. */
export function commit(entities: readonly Bytes[], transaction?: Bytes): Bytes {
  const mutations = entities.map((upsert) => ({ 6: upsert }))
  return bytesOf({ 1: transaction, 5: transaction === undefined ? 2 : 1, 6: mutations, 8: project })
}

export function deletion(kind: string, count: number): Bytes {
  const deletes = Array.from({ length: count }, (_, i) => ({ 7: encodeKey(keyOf(kind, nameOf(i))) }))
  return bytesOf({ 5: 2, 6: deletes, 8: project })
}

export function begin(): Bytes {
  return bytesOf({ 8: project })
}

export interface QueryShape {
  readonly kind: string
  readonly category?: string
  readonly orderByScore?: boolean
  readonly limit?: number
  readonly startCursor?: Bytes
}

/** google.datastore.v1.Query */
function query({ kind, category, orderByScore = false, limit, startCursor }: QueryShape): Message {
  return {
    3: { 1: kind },
    4: category === undefined ? undefined : { 2: { 1: { 2: 'cat' }, 2: 5, 3: encodeValue(text(category)) } },
    5: orderByScore ? { 1: { 2: 'score' }, 2: 2 } : undefined,
    7: startCursor,
    12: limit === undefined ? undefined : { 1: limit },
  }
}

export function runQuery(shape: QueryShape): Bytes {
  return bytesOf({ 3: query(shape), 8: project })
}

export function count(kind: string): Bytes {
  return bytesOf({ 3: { 1: query({ kind }), 3: { 1: {} } }, 8: project })
}

/** The first content at a path of fields; empty where there is none. */
function at(message: Bytes, ...fields: readonly number[]): Bytes {
  return fields.reduce((inner, field) => contentsOf(inner, field)[0] ?? new Uint8Array(0), message)
}

export const answers = {
  found: (message: Bytes): number => contentsOf(message, 1).length,
  /** Mutation results of a commit. */
  written: (message: Bytes): number => contentsOf(message, 3).length,
  transaction: (message: Bytes): Bytes => at(message, 1),
  /** Results of a query, the cursor behind them, and whether there may be more. */
  page(message: Bytes): { readonly results: number; readonly cursor: Bytes; readonly isLast: boolean } {
    const batch = at(message, 1)
    return { results: contentsOf(batch, 2).length, cursor: at(batch, 4), isLast: numberOf(batch, 5) === 3n }
  },
  counted: (message: Bytes): number => Number(numberOf(at(message, 1, 1, 2, 2), 2)),
} as const
