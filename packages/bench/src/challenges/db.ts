/**
 * The Datastore client of a challenge's program: few verbs on plain values, and a meter that tells the judge what each call cost.
 *
 * DB1  Every call takes the way to the service and back, and is charged to the simulated tablets.
 * DB2  The meter counts the calls that reached the service, also those that failed.
 */
import {
  type Database,
  DatastoreError,
  decodeProperties,
  type EntityImage,
  type Filter,
  type Key,
  type Mutation,
  type PropertyOperator,
  type Query,
  type RequestContext,
} from '@sixtables/engine'
import type { Random } from '@sixtables/engine/testing'
import { hasCode } from '../sim/client.ts'
import { entityBytes } from '../sim/entities.ts'
import type { Store } from '../sim/store.ts'
import {
  type Entity,
  fieldsOf,
  type KeyPath,
  keyPathOf,
  type Plain,
  type Properties,
  pathOf,
  plainOf,
  valueFrom,
} from './values.ts'

export interface PutOptions {
  /** Properties to exclude from indexes. */
  readonly unindexed?: readonly string[]
}

export interface QueryOptions {
  readonly kind: string
  /** `[property, operator, value]`; the property `__key__` compares keys. */
  readonly where?: readonly (readonly [string, string, Plain | KeyPath])[]
  /** Property names; a leading hyphen means descending. */
  readonly order?: readonly string[]
  readonly ancestor?: KeyPath
  readonly limit?: number
  readonly offset?: number
  /** As a page before answered it. */
  readonly cursor?: string | undefined
  readonly keysOnly?: boolean
}

export interface QueryPage {
  readonly entities: readonly Entity[]
  /** The position behind the last result. */
  readonly cursor: string
}

/** The verbs that work inside a transaction, too. */
export interface Verbs {
  get(key: KeyPath): Promise<Entity | undefined>
  getAll(keys: readonly KeyPath[]): Promise<(Entity | undefined)[]>
  put(key: KeyPath, properties: Properties, options?: PutOptions): Promise<void>
  /** @throws ALREADY_EXISTS */
  insert(key: KeyPath, properties: Properties, options?: PutOptions): Promise<void>
  remove(...keys: readonly KeyPath[]): Promise<void>
  query(options: QueryOptions): Promise<QueryPage>
}

/** The cost of the calls of a program, as the judge reads it. */
export class Meter {
  lookups = 0
  keysRead = 0
  queries = 0
  /** Index rows and entities that queries read, and rows that an offset skipped. */
  rowsRead = 0
  commits = 0
  calls = 0
  /** Virtual milliseconds of each commit, by the root key of its group. */
  readonly commitsOf: Map<string, number[]> = new Map()
}

export interface DbParts {
  readonly store: Store
  readonly random: Random
  readonly rpcMs: number
  readonly meter?: Meter
  /** Weight and spread of each call; absent = one real operation. */
  readonly context?: () => RequestContext
  /** Attempts after the first one where the service was busy, as client libraries make them; default 0. */
  readonly retries?: number
  /** Called before each call; it throws to end the program there, as a crash does. */
  readonly before?: (call: 'read' | 'write') => void
}

interface Change {
  readonly key: Key
  readonly mutation: Mutation
}

const attemptsMax = 6
const operators: Readonly<Record<string, PropertyOperator>> = {
  '=': 'equal',
  '<': 'lessThan',
  '<=': 'lessThanOrEqual',
  '>': 'greaterThan',
  '>=': 'greaterThanOrEqual',
  '!=': 'notEqual',
  in: 'in',
}

export class Db implements Verbs {
  readonly meter: Meter
  readonly #parts: DbParts
  readonly #database: Database

  constructor(parts: DbParts) {
    this.#parts = parts
    this.#database = parts.store.database
    this.meter = parts.meter ?? new Meter()
  }

  /** Simulated milliseconds. */
  now(): number {
    return Number(this.#parts.store.clock.nowMicros() / 1000n)
  }

  sleep(ms: number): Promise<void> {
    return this.#parts.store.sleep(ms)
  }

  /** A number from 0 to 1, drawn from the run's seed. */
  random(): number {
    return this.#parts.random.next()
  }

  /** A new id of a kind, as AllocateIds gives it. */
  async allocateId(kind: string): Promise<bigint> {
    const [key] = await this.#call('write', (context) => this.#database.allocateIds(context, [this.#key([kind])]))
    const id = key?.path.at(-1)?.id
    if (id === undefined) throw new Error('AllocateIds answered no id')
    return id
  }

  async get(key: KeyPath): Promise<Entity | undefined> {
    return (await this.getAll([key]))[0]
  }

  getAll(keys: readonly KeyPath[]): Promise<(Entity | undefined)[]> {
    return this.#getAll(keys, undefined)
  }

  put(key: KeyPath, properties: Properties, options?: PutOptions): Promise<void> {
    return this.#commit([this.#change('upsert', key, properties, options)])
  }

  insert(key: KeyPath, properties: Properties, options?: PutOptions): Promise<void> {
    return this.#commit([this.#change('insert', key, properties, options)])
  }

  remove(...keys: readonly KeyPath[]): Promise<void> {
    return this.#commit(keys.map((key) => this.#removal(key)))
  }

  query(options: QueryOptions): Promise<QueryPage> {
    return this.#query(options, undefined)
  }

  /** How many entities a query finds. */
  async count(options: QueryOptions): Promise<number> {
    this.meter.queries++
    const query = this.#queryOf(options)
    const aggregations = [{ operator: 'count', upTo: undefined, alias: 'n' }] as const
    const { values } = await this.#call('read', (context) =>
      this.#database.runAggregationQuery(context, { query, aggregations }),
    )
    const value = values.get('n')
    return value?.type === 'integer' ? Number(value.value) : 0
  }

  /**
   * Runs `work` in a transaction and commits its writes. After a conflict it runs again, up to five times, with growing pauses.
   *
   * @throws what `work` throws; ABORTED after the last attempt
   */
  async transaction<T>(work: (transaction: Verbs) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(work)
      } catch (error) {
        const isConflict = error instanceof DatastoreError && error.code === 'ABORTED'
        if (!isConflict || attempt === attemptsMax) throw error
        await this.sleep(50 * 2 ** attempt * (0.5 + this.random() / 2))
      }
    }
  }

  async #attempt<T>(work: (transaction: Verbs) => Promise<T>): Promise<T> {
    const token = await this.#call('read', (context) => this.#database.beginTransaction(context, { mode: 'readWrite' }))
    const changes: Change[] = []
    const later = (...more: readonly Change[]): Promise<void> => {
      changes.push(...more)
      return Promise.resolve()
    }
    const getAll = (keys: readonly KeyPath[]): Promise<(Entity | undefined)[]> => this.#getAll(keys, token)
    try {
      const result = await work({
        get: async (key) => (await getAll([key]))[0],
        getAll,
        put: (key, properties, options) => later(this.#change('upsert', key, properties, options)),
        insert: (key, properties, options) => later(this.#change('insert', key, properties, options)),
        remove: (...keys) => later(...keys.map((key) => this.#removal(key))),
        query: (options) => this.#query(options, token),
      })
      await this.#commit(changes, token)
      return result
    } catch (error) {
      // A transaction that lost a conflict has ended; the rollback of any other may meet a program that was ended.
      await this.#database.rollback(this.#context(), token)
      throw error
    }
  }

  async #getAll(keys: readonly KeyPath[], transaction: Uint8Array | undefined): Promise<(Entity | undefined)[]> {
    this.meter.lookups++
    this.meter.keysRead += keys.length
    const wanted = keys.map((key) => this.#key(key))
    const request = { keys: wanted, ...(transaction === undefined ? {} : { read: { transaction } }) }
    const { found } = await this.#call('read', (context) => this.#database.lookup(context, request))
    const byPath = new Map(found.map(({ key, image }) => [words(key), entityOf(key, image)]))
    return wanted.map((key) => byPath.get(words(key)))
  }

  /** In as many calls as it takes: one call passes over 1,000 results at most. */
  async #query(options: QueryOptions, transaction: Uint8Array | undefined): Promise<QueryPage> {
    this.meter.queries++
    const entities: Entity[] = []
    let query = this.#queryOf(options)
    for (;;) {
      const request = { query, ...(transaction === undefined ? {} : { read: { transaction } }) }
      const { batch, metrics } = await this.#call('read', (context) =>
        this.#database.explainQuery(context, request, { analyze: true }),
      )
      this.meter.rowsRead += (metrics.stats?.indexEntriesScanned ?? 0) + (metrics.stats?.documentsScanned ?? 0)
      if (batch === undefined) throw new Error('the query was not run')
      for (const { key, image } of batch.results) {
        entities.push(image === undefined ? { key: keyPathOf(key) } : entityOf(key, image))
      }
      if (batch.moreResults !== 'notFinished') {
        return { entities, cursor: Buffer.from(batch.endCursor).toString('base64url') }
      }
      const { limit } = options
      query = {
        ...query,
        offset: query.offset - batch.skipped,
        startCursor: batch.endCursor,
        ...(limit === undefined ? {} : { limit: limit - entities.length }),
      }
    }
  }

  #queryOf({
    kind,
    where = [],
    order = [],
    ancestor,
    limit,
    offset = 0,
    cursor,
    keysOnly = false,
  }: QueryOptions): Query {
    const filters = where.map(([property, operator, value]): Filter => {
      const known = operators[operator]
      if (known === undefined)
        throw new TypeError(`there is no operator ${operator}; use ${Object.keys(operators).join(' ')}`)
      const isKey = property === '__key__'
      return {
        type: 'property',
        property,
        operator: known,
        value: isKey ? { type: 'key', key: this.#key(value as KeyPath) } : valueFrom(value as Plain),
      }
    })
    if (ancestor !== undefined) {
      const value = { type: 'key', key: this.#key(ancestor) } as const
      filters.push({ type: 'property', property: '__key__', operator: 'hasAncestor', value })
    }
    return {
      partition: this.#parts.store.key().partition,
      kind,
      projection: keysOnly ? ['__key__'] : [],
      ...(filters.length === 0 ? {} : { filter: { type: 'composite', operator: 'and', filters } }),
      order: order.map((name) =>
        name.startsWith('-')
          ? { property: name.slice(1), direction: 'descending' }
          : { property: name, direction: 'ascending' },
      ),
      distinctOn: [],
      offset,
      ...(limit === undefined ? {} : { limit }),
      ...(cursor === undefined ? {} : { startCursor: Buffer.from(cursor, 'base64url') }),
    }
  }

  #change(operation: 'upsert' | 'insert', path: KeyPath, properties: Properties, options: PutOptions = {}): Change {
    const key = this.#key(path)
    return { key, mutation: { operation, entity: entityBytes(key, fieldsOf(properties, options.unindexed)) } }
  }

  #removal(path: KeyPath): Change {
    const key = this.#key(path)
    return { key, mutation: { operation: 'delete', key } }
  }

  async #commit(changes: readonly Change[], transaction?: Uint8Array): Promise<void> {
    this.meter.commits++
    const mutations = changes.map(({ mutation }) => mutation)
    const request =
      transaction === undefined
        ? ({ mode: 'nonTransactional', mutations } as const)
        : ({ mode: 'transactional', transaction, mutations } as const)
    const { mutationResults } = await this.#call('write', (context) => this.#database.commit(context, request))
    const groups = new Set(
      changes.map(({ key }, i) => {
        const { path, partition } = mutationResults[i]?.key ?? key
        return words({ partition, path: path.slice(0, 1) })
      }),
    )
    for (const group of groups) {
      const times = this.meter.commitsOf.get(group)
      if (times === undefined) this.meter.commitsOf.set(group, [this.now()])
      else times.push(this.now())
    }
  }

  #key(key: KeyPath): Key {
    return this.#parts.store.key(...pathOf(key))
  }

  #context(): RequestContext {
    return this.#parts.context?.() ?? this.#parts.store.context()
  }

  /** There, the work, and back (DB1). */
  async #call<T>(kind: 'read' | 'write', work: (context: RequestContext) => T | Promise<T>): Promise<T> {
    const { store, rpcMs, retries = 0, before } = this.#parts
    for (let attempt = 0; ; attempt++) {
      this.meter.calls++
      before?.(kind)
      await store.sleep(rpcMs / 2)
      try {
        return await work(this.#context())
      } catch (error) {
        if (attempt >= retries || !isBusy(error)) throw error
        await store.sleep(100 * 2 ** attempt * (0.5 + this.random() / 2))
      } finally {
        await store.sleep(rpcMs / 2)
      }
    }
  }
}

function isBusy(error: unknown): boolean {
  return hasCode(error, 'UNAVAILABLE') || hasCode(error, 'RESOURCE_EXHAUSTED')
}

function words(key: Key): string {
  return JSON.stringify(key.path.map(({ kind, id, name }) => [kind, name ?? `#${id}`]))
}

function entityOf(key: Key, image: EntityImage): Entity {
  const properties = [...decodeProperties(image.properties)].map(([name, value]) => [name, plainOf(value)] as const)
  return { ...Object.fromEntries(properties), key: keyPathOf(key) }
}
