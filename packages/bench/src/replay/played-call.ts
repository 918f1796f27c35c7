/**
 * One recorded call, played on a store. Keys are the recorded ones; values too, or texts of the same size if values were not recorded.
 *
 * Each call is played alone: a read of a transaction as a plain read, a commit without its transaction. Inserts and updates are played
 * as upserts, because a second pass inserts the same entity again.
 */
import {
  type Aggregation,
  type Database,
  decodeProperties,
  decodeValue,
  type Filter,
  type Key,
  type Mutation,
  type PropertyOperator,
  type Query,
  type RequestContext,
  type Value,
} from '@sixtables/engine'
import type { Random } from '@sixtables/engine/testing'
import { allOf, array, type Fields, orderOf, text, unindexed, upsert, where } from '../sim/entities.ts'
import type { Store } from '../sim/store.ts'
import type { RecordedCall, RecordedFilter, RecordedKey, RecordedMutation, RecordedQuery } from './read-recording.ts'

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

  async play(call: RecordedCall, context: RequestContext): Promise<void> {
    const database = this.#databaseOf(call)
    const { query, mutations, keys } = call
    if (query !== undefined) await this.#ask(database, call, query, context)
    else if (mutations.length > 0) {
      const request = { mode: 'nonTransactional', mutations: this.#distinct(call) } as const
      await database.commit(context, request)
    } else await database.lookup(context, { keys: keys.map((key) => keyOf(call, key)) })
  }

  /** Writes the entities that were stored before the recording. */
  async fill(call: RecordedCall, keys: readonly RecordedKey[]): Promise<void> {
    const mutations = keys.map((key) => upsert(keyOf(call, key), { body: this.#filler(filledBytes) }))
    await this.#databaseOf(call).commit(this.#store.context(), { mode: 'nonTransactional', mutations })
  }

  #databaseOf({ project, database }: RecordedCall): Database {
    return this.#store.engine.database(project, database)
  }

  async #ask(database: Database, call: RecordedCall, recorded: RecordedQuery, context: RequestContext): Promise<void> {
    const query = this.#query(call, recorded)
    if (recorded.aggregations.length === 0) {
      await database.runQuery(context, { query })
      return
    }
    await database.runAggregationQuery(context, { query, aggregations: recorded.aggregations.map(aggregationOf) })
  }

  /** The last mutation of each entity: a commit may not name an entity twice. */
  #distinct(call: RecordedCall): Mutation[] {
    const last = new Map(call.mutations.map((one) => [JSON.stringify([one.key.namespace, words(one.key)]), one]))
    return [...last.values()].map((one) => this.#mutation(call, one))
  }

  #mutation(call: RecordedCall, { operation, key, entity, bytes, indexed }: RecordedMutation): Mutation {
    const whole = keyOf(call, key)
    if (operation === 'delete') return { operation, key: whole }
    if (entity !== undefined) return upsert(whole, Object.fromEntries(decodeProperties(entity)))
    return upsert(whole, this.#fields(bytes, indexed))
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

  #query(call: RecordedCall, recorded: RecordedQuery): Query {
    const { namespace: namespaceId, kind, projection, filter, order, distinctOn, offset, limit } = recorded
    return {
      partition: { projectId: call.project, databaseId: call.database, namespaceId },
      kind,
      projection,
      filter: filter === undefined ? undefined : this.#filter(call, filter),
      order: order.map(orderOf),
      distinctOn,
      offset,
      limit,
    }
  }

  #filter(call: RecordedCall, filter: RecordedFilter): Filter {
    if ('all' in filter) return allOf(...filter.all.map((one) => this.#filter(call, one)))
    if ('any' in filter)
      return { type: 'composite', operator: 'or', filters: filter.any.map((one) => this.#filter(call, one)) }
    const { property, operator, key, value, bytes } = filter
    const filled = (): Value => {
      const one = text(this.#letters(Math.min(bytes, indexedBytesMax)))
      return operator === 'in' || operator === 'notIn' ? array([one]) : one
    }
    const given: Value =
      key !== undefined
        ? { type: 'key', key: keyOf(call, key) }
        : value === undefined
          ? filled()
          : decodeValue(value, { projectId: call.project, databaseId: call.database }, property)
    // The engine refuses an unknown operator.
    return where(property, operator as PropertyOperator, given)
  }

  #filler(bytes: number): Value {
    return unindexed(text('x'.repeat(bytes)))
  }

  /** A random text of that many letters. */
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
/** Maximum bytes of an indexed text. */
const indexedBytesMax = 1500
const bodyName = 'body'

function words({ path }: RecordedKey): readonly (readonly string[])[] {
  return path.map(({ kind, id, name }) => [kind, id === undefined ? `n${name}` : `i${id}`])
}

function keyOf({ project: projectId, database: databaseId }: RecordedCall, { namespace, path }: RecordedKey): Key {
  return { partition: { projectId, databaseId, namespaceId: namespace }, path }
}

function aggregationOf(words: string): Aggregation {
  const [operator, ...property] = words.split(':')
  if (operator === 'sum' || operator === 'avg') return { operator, property: property.join(':') }
  return { operator: 'count', upTo: undefined }
}
