/**
 * The calls of a lab's client, on a store in virtual time or on a server in real time (wire.ts), so that one arm can use both.
 *
 * On virtual time a call takes half of `client.rpcMs` to the service, its work, and half back; over HTTP the network takes its own
 * time. A failed call throws DatastoreError with the code that a client library would see, for example ABORTED.
 */
import {
  type CommitRequest,
  DatastoreError,
  decodeProperties,
  type EntityImage,
  formatKey,
  type Key,
  type LookupRequest,
  type MaybePromise,
  type Mutation,
  type RequestContext,
  type RunQueryRequest,
  type StatusCode,
  type TransactionOptions,
  type Value,
} from '@sixtables/engine'
import { descending, queryOf } from './entities.ts'
import type { Store } from './store.ts'

/** Where a client works: a store, or a server. */
export interface Place extends Pick<Store, 'nowMs' | 'sleep' | 'key' | 'context'> {
  readonly database: Verbs
}

/** The verbs of the engine's database that clients use, and the parts of their answers. */
export interface Verbs {
  beginTransaction(context: RequestContext, options: TransactionOptions): MaybePromise<Uint8Array>
  rollback(context: RequestContext, transaction: Uint8Array): unknown
  lookup(context: RequestContext, request: LookupRequest): MaybePromise<{ readonly found: readonly Result[] }>
  commit(context: RequestContext, request: CommitRequest): unknown
  allocateIds(context: RequestContext, keys: readonly Key[]): MaybePromise<readonly Key[]>
  runQuery(context: RequestContext, request: RunQueryRequest): MaybePromise<{ readonly results: readonly Result[] }>
}

export interface Result {
  readonly key: Key
  readonly image?: Pick<EntityImage, 'properties' | 'version'> | undefined
}

export interface Stored {
  readonly fields: Found
  readonly version: bigint
}

export type Found = ReadonlyMap<string, Value>

/** Runs the work of a call when its gateway has time for it. */
export type Serve = <T>(work: () => T | Promise<T>) => Promise<T>

export class Client {
  readonly #place: Place
  readonly #rpcMs: number
  readonly #serve: Serve

  constructor(place: Place, rpcMs: number, serve: Serve = async (work) => await work()) {
    this.#place = place
    this.#rpcMs = rpcMs
    this.#serve = serve
  }

  nowMs(): number {
    return this.#place.nowMs
  }

  sleep(ms: number): Promise<void> {
    return this.#place.sleep(ms)
  }

  key(...path: Key['path']): Key {
    return this.#place.key(...path)
  }

  begin(): Promise<Uint8Array> {
    return this.#call((database, context) => database.beginTransaction(context, { mode: 'readWrite' }))
  }

  async rollback(transaction: Uint8Array): Promise<void> {
    await this.#call((database, context) => database.rollback(context, transaction))
  }

  /** @returns `undefined` if there is no entity */
  async lookup(key: Key, transaction?: Uint8Array): Promise<Found | undefined> {
    const read = transaction === undefined ? {} : { read: { transaction } }
    const { found } = await this.#call((database, context) => database.lookup(context, { keys: [key], ...read }))
    return storedOf(found[0])?.fields
  }

  /** Entities with their versions, in the order of the keys; `undefined` for a missing one. */
  async read(keys: readonly Key[]): Promise<readonly (Stored | undefined)[]> {
    const { found } = await this.#call((database, context) => database.lookup(context, { keys }))
    const results = new Map(found.map((result) => [formatKey(result.key), result]))
    return keys.map((key) => storedOf(results.get(formatKey(key))))
  }

  /** The number of keys that have no entity, by lookups of 500 keys. */
  async missing(keys: readonly Key[]): Promise<number> {
    let missing = 0
    for (let at = 0; at < keys.length; at += 500) {
      const stored = await this.read(keys.slice(at, at + 500))
      missing += stored.filter((one) => one === undefined).length
    }
    return missing
  }

  /** Commits in the transaction, or each mutation separately. */
  commit(mutations: readonly Mutation[], transaction?: Uint8Array): Promise<void> {
    return this.#commit(
      transaction === undefined
        ? { mode: 'nonTransactional', mutations }
        : { mode: 'transactional', transaction, mutations },
    )
  }

  /** All mutations or none, in one call. */
  commitAtomically(mutations: readonly Mutation[]): Promise<void> {
    return this.#commit({ mode: 'transactional', singleUse: { mode: 'readWrite' }, mutations })
  }

  async allocateId(key: Key): Promise<bigint> {
    const [complete] = await this.#call((database, context) => database.allocateIds(context, [key]))
    return idOf(complete)
  }

  /** The entity of a kind with the greatest value of an indexed property, by a global query. */
  async greatest(kind: string, property: string): Promise<Found | undefined> {
    const query = queryOf(this.key().partition, kind, { order: [descending(property)], limit: 1 })
    const { results } = await this.#call((database, context) => database.runQuery(context, { query }))
    return storedOf(results[0])?.fields
  }

  async #commit(request: CommitRequest): Promise<void> {
    await this.#call((database, context) => database.commit(context, request))
  }

  async #call<T>(work: (database: Verbs, context: RequestContext) => T | Promise<T>): Promise<T> {
    const place = this.#place
    await this.#way()
    try {
      return await this.#serve(() => work(place.database, place.context()))
    } finally {
      await this.#way()
    }
  }

  async #way(): Promise<void> {
    if (this.#rpcMs > 0) await this.#place.sleep(this.#rpcMs / 2)
  }
}

function storedOf(result: Result | undefined): Stored | undefined {
  const image = result?.image
  return image && { fields: decodeProperties(image.properties), version: image.version }
}

export function idOf(key: Key | undefined): bigint {
  const id = key?.path.at(-1)?.id
  if (id === undefined) throw new Error('a key was given no id')
  return id
}

export function integerOf(found: Found | undefined, property: string): number {
  const value = found?.get(property)
  return value?.type === 'integer' ? Number(value.value) : 0
}

export function textsOf(found: Found | undefined, property: string): readonly string[] {
  const value = found?.get(property)
  if (value?.type !== 'array') return []
  return value.values.map((element) => (element.type === 'string' ? element.value : ''))
}

/** Whether a call that failed may be repeated: it lost a conflict, or the server was busy. */
export function isTransient(error: unknown): boolean {
  return hasCode(error, 'ABORTED', 'UNAVAILABLE', 'RESOURCE_EXHAUSTED', 'DEADLINE_EXCEEDED')
}

/** Why the service refuses some work; `undefined` if the work succeeds. @throws any other error */
export async function refusalOf(work: () => unknown): Promise<DatastoreError | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (error instanceof DatastoreError) return error
    throw error
  }
}

/** Whether some work succeeds. @throws its error, unless it is an expected one; default: any that a retry may cure */
export async function succeeds(
  work: () => unknown,
  isExpected: (error: unknown) => boolean = isTransient,
): Promise<boolean> {
  const refusal = await refusalOf(work)
  if (refusal !== undefined && !isExpected(refusal)) throw refusal
  return refusal === undefined
}

export function hasCode(error: unknown, ...codes: readonly StatusCode[]): boolean {
  return error instanceof DatastoreError && codes.includes(error.code)
}

/** A put on condition of a version met another one. */
export const isChanged = (error: unknown): boolean => hasCode(error, 'FAILED_PRECONDITION')
export const isLate = (error: unknown): boolean => hasCode(error, 'DEADLINE_EXCEEDED')
