/**
 * The calls of a lab's client: in process on virtual time, or over HTTP in real time, so that one arm can use both.
 *
 * On virtual time a call takes half of `client.rpcMs` to the service, its work, and half back; over HTTP the network takes its own
 * time. A failed call throws DatastoreError with the code that a client library would see, for example ABORTED.
 */
import {
  type Database,
  DatastoreError,
  decodeProperties,
  formatKey,
  type Key,
  type Mutation,
  type PropertyTransform,
  type Value,
} from '@sixtables/engine'
import { descending, entityBytes, type Fields } from './entities.ts'
import type { Store } from './store.ts'

export interface Put {
  readonly operation: 'insert' | 'update' | 'upsert'
  readonly key: Key
  readonly fields: Fields
  /** The only properties to write; default the whole entity. */
  readonly only?: readonly string[]
  /** Version that must be stored, or else the commit is refused with FAILED_PRECONDITION; 0 = no entity is stored. */
  readonly baseVersion?: bigint
  /** Changes of arrays that the server makes after the write. */
  readonly arrays?: readonly ArrayChange[]
}

/** An array property to which missing elements are appended, or from which elements are removed. */
export interface ArrayChange {
  readonly property: string
  readonly change: 'append' | 'remove'
  readonly values: readonly Value[]
}

export interface Stored {
  readonly fields: Found
  readonly version: bigint
}

export type Found = ReadonlyMap<string, Value>

export interface Client {
  nowMs(): number
  sleep(ms: number): Promise<void>
  key(...path: Key['path']): Key
  begin(): Promise<Uint8Array>
  rollback(transaction: Uint8Array): Promise<void>
  /** @returns `undefined` if there is no entity */
  lookup(key: Key, transaction?: Uint8Array): Promise<Found | undefined>
  /** Entities with their versions, in the order of the keys; `undefined` for a missing one. */
  read(keys: readonly Key[]): Promise<readonly (Stored | undefined)[]>
  /** Commits in the transaction, or each put separately. */
  commit(puts: readonly Put[], transaction?: Uint8Array): Promise<void>
  /** All puts or none, in one call. */
  commitAtomically(puts: readonly Put[]): Promise<void>
  allocateId(key: Key): Promise<bigint>
  /** The entity of a kind with the greatest value of an indexed property, by a global query. */
  greatest(kind: string, property: string): Promise<Found | undefined>
}

/** Runs the work of a call when its gateway has time for it. */
export type Serve = <T>(work: () => T | Promise<T>) => Promise<T>

export class StoreClient implements Client {
  readonly #store: Store
  readonly #database: Database
  readonly #rpcMs: number
  readonly #serve: Serve

  constructor(store: Store, rpcMs: number, serve: Serve = async (work) => await work()) {
    this.#store = store
    this.#database = store.database
    this.#rpcMs = rpcMs
    this.#serve = serve
  }

  nowMs(): number {
    return this.#store.nowMs
  }

  sleep(ms: number): Promise<void> {
    return this.#store.sleep(ms)
  }

  key(...path: Key['path']): Key {
    return this.#store.key(...path)
  }

  begin(): Promise<Uint8Array> {
    return this.#call(() => this.#database.beginTransaction(this.#store.context(), { mode: 'readWrite' }))
  }

  async rollback(transaction: Uint8Array): Promise<void> {
    await this.#call(() => this.#database.rollback(this.#store.context(), transaction))
  }

  async lookup(key: Key, transaction?: Uint8Array): Promise<Found | undefined> {
    const read = transaction === undefined ? {} : { read: { transaction } }
    const { found } = await this.#call(() => this.#database.lookup(this.#store.context(), { keys: [key], ...read }))
    return found[0] === undefined ? undefined : decodeProperties(found[0].image.properties)
  }

  async read(keys: readonly Key[]): Promise<readonly (Stored | undefined)[]> {
    const { found } = await this.#call(() => this.#database.lookup(this.#store.context(), { keys }))
    const stored = new Map(found.map(({ key, image }) => [formatKey(key), image]))
    return keys.map((key) => {
      const image = stored.get(formatKey(key))
      return image === undefined ? undefined : { fields: decodeProperties(image.properties), version: image.version }
    })
  }

  async commit(puts: readonly Put[], transaction?: Uint8Array): Promise<void> {
    const mutations = puts.map(mutationOf)
    const request =
      transaction === undefined
        ? ({ mode: 'nonTransactional', mutations } as const)
        : ({ mode: 'transactional', transaction, mutations } as const)
    await this.#call(() => this.#database.commit(this.#store.context(), request))
  }

  async commitAtomically(puts: readonly Put[]): Promise<void> {
    const mutations = puts.map(mutationOf)
    const request = { mode: 'transactional', singleUse: { mode: 'readWrite' }, mutations } as const
    await this.#call(() => this.#database.commit(this.#store.context(), request))
  }

  async allocateId(key: Key): Promise<bigint> {
    const [complete] = await this.#call(() => this.#database.allocateIds(this.#store.context(), [key]))
    return idOf(complete)
  }

  async greatest(kind: string, property: string): Promise<Found | undefined> {
    const query = this.#store.query(kind, { order: [descending(property)], limit: 1 })
    const { results } = await this.#call(() => this.#database.runQuery(this.#store.context(), { query }))
    const image = results[0]?.image
    return image === undefined ? undefined : decodeProperties(image.properties)
  }

  /** The way to the service, the work, and the way back. */
  async #call<T>(work: () => T | Promise<T>): Promise<T> {
    await this.#store.sleep(this.#rpcMs / 2)
    try {
      return await this.#serve(work)
    } finally {
      await this.#store.sleep(this.#rpcMs / 2)
    }
  }
}

function mutationOf({ operation, key, fields, only, baseVersion, arrays }: Put): Mutation {
  return {
    operation,
    entity: entityBytes(key, fields),
    ...(only === undefined ? {} : { propertyMask: only }),
    ...(baseVersion === undefined ? {} : { conflict: { baseVersion, resolution: 'fail' } }),
    ...(arrays === undefined ? {} : { transforms: arrays.map(transformOf) }),
  }
}

function transformOf({ property, change, values }: ArrayChange): PropertyTransform {
  return { property, type: change === 'append' ? 'appendMissing' : 'removeAll', values }
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
  return (
    error instanceof DatastoreError &&
    ['ABORTED', 'UNAVAILABLE', 'RESOURCE_EXHAUSTED', 'DEADLINE_EXCEEDED'].includes(error.code)
  )
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof DatastoreError && error.code === code
}
