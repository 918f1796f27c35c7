/**
 * One recorded call, played on a store. Keys are the recorded ones; values too, or texts of the same size if values were not recorded.
 *
 * Each call is played alone: a read of a transaction as a plain read, a commit without its transaction. Inserts and updates are played
 * as upserts, because a second pass inserts the same entity again.
 */
import {
  type Database,
  decodeProperties,
  type Key,
  type Mutation,
  type PartitionId,
  type Query,
  type RequestContext,
  type Value,
} from '@sixtables/engine'
import type { Random } from '@sixtables/engine/testing'
import { array, type Fields, text, unindexed, upsert } from '../sim/entities.ts'
import { wordsOfPath } from '../sim/keys.ts'
import type { Store } from '../sim/store.ts'
import {
  type PropertyFilter,
  type RecordedCall,
  type RecordedMutation,
  type RecordedQuery,
  type RecordedValue,
  withValues,
} from './read-recording.ts'

/** Codes of calls that reached the data or were refused for load. Other codes are mistakes of clients, which read nothing. */
const playedCodes: readonly string[] = [
  'OK',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'ABORTED',
  'UNAVAILABLE',
  'RESOURCE_EXHAUSTED',
  'DEADLINE_EXCEEDED',
  'CANCELLED',
]

/** Whether a call can be played: it reads or writes entities, and the recording has their keys. */
export function isPlayed(call: RecordedCall): boolean {
  return whyNotPlayed(call) === undefined
}

/** @returns `undefined` for a call that is played */
export function whyNotPlayed({ code, keys, mutations, query, method }: RecordedCall): string | undefined {
  if (!playedCodes.includes(code)) return `${method} ended with ${code}: a mistake of its client, which read nothing`
  if (method === 'lookup') return keys.length > 0 ? undefined : 'lookup names no key'
  if (method === 'commit') return mutations.length > 0 ? undefined : 'commit writes nothing'
  if (query?.isNearest === true) return `${method} searches by vector, which needs the recorded values`
  return query === undefined ? `${method} reads and writes no entities` : undefined
}

export class Player {
  readonly #store: Store
  readonly #random: Random

  constructor(store: Store, random: Random) {
    this.#store = store
    this.#random = random
  }

  async play({ query, mutations, keys }: RecordedCall, context: RequestContext): Promise<void> {
    const [first] = mutations
    if (query !== undefined) await this.#ask(query, context)
    else if (first !== undefined) {
      const request = { mode: 'nonTransactional', mutations: this.#distinct(mutations) } as const
      await this.#databaseOf(first.key.partition).commit(context, request)
    } else if (keys[0] !== undefined) await this.#databaseOf(keys[0].partition).lookup(context, { keys })
  }

  /** Writes entities of one database that were stored before the recording. */
  async fill(keys: readonly Key[]): Promise<void> {
    const [first] = keys
    if (first === undefined) return
    const mutations = keys.map((key) => upsert(key, { body: this.#filler(filledBytes) }))
    await this.#databaseOf(first.partition).commit(this.#store.context(), { mode: 'nonTransactional', mutations })
  }

  #databaseOf({ projectId, databaseId }: PartitionId): Database {
    return this.#store.engine.database(projectId, databaseId)
  }

  async #ask(recorded: RecordedQuery, context: RequestContext): Promise<void> {
    const { aggregations, isNearest: _, isFromCursor: __, filter, ...shape } = recorded
    const query: Query = { ...shape, filter: filter && withValues(filter, (one) => this.#valueOf(one)) }
    const database = this.#databaseOf(query.partition)
    if (aggregations.length === 0) await database.runQuery(context, { query })
    else await database.runAggregationQuery(context, { query, aggregations })
  }

  /** The last mutation of each entity: a commit may not name an entity twice. */
  #distinct(mutations: readonly RecordedMutation[]): Mutation[] {
    const last = new Map(mutations.map((one) => [`${one.key.partition.namespaceId} ${wordsOfPath(one.key.path)}`, one]))
    return [...last.values()].map((one) => this.#mutation(one))
  }

  #mutation({ operation, key, entity, bytes, indexed }: RecordedMutation): Mutation {
    if (operation === 'delete') return { operation, key }
    if (entity !== undefined) return upsert(key, Object.fromEntries(decodeProperties(entity)))
    return upsert(key, this.#fields(bytes, indexed))
  }

  #fields(bytes: number, indexed: RecordedMutation['indexed']): Fields {
    let rest = bytes
    const sized = (size: number): Value => {
      rest -= size
      return text(this.#letters(Math.min(size, indexedBytesMax)))
    }
    const entries = Object.entries(indexed).map(([name, size]): [string, Value] => [
      name,
      typeof size === 'number' ? sized(size) : array(size.map(sized)),
    ])
    return { ...Object.fromEntries(entries), ...(rest > 0 ? { [bodyName]: this.#filler(rest) } : {}) }
  }

  #valueOf({ operator, value }: PropertyFilter<RecordedValue>): Value {
    if (typeof value !== 'number') return value
    const one = text(this.#letters(Math.min(value, indexedBytesMax)))
    return operator === 'in' || operator === 'notIn' ? array([one]) : one
  }

  #filler(bytes: number): Value {
    return unindexed(text('x'.repeat(bytes)))
  }

  #letters(count: number): string {
    let letters = ''
    while (letters.length < count)
      letters += Math.floor(this.#random.next() * 36 ** 6)
        .toString(36)
        .padStart(6, '0')
    return letters.slice(0, count)
  }
}

/** Bytes of an entity that was stored before the recording. */
const filledBytes = 100
const indexedBytesMax = 1500
const bodyName = 'body'
