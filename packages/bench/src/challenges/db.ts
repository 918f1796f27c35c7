/**
 * The Datastore client of a challenge's program: few verbs on plain values, and a meter that tells the judge what each call cost.
 *
 * DB1  Every call takes the way to the service and back, of some milliseconds, and is charged to the simulated tablets.
 * DB2  The meter counts the calls that reached the service, also those that failed.
 */
import {
  type Database,
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

/** A write within a transaction. */
export type PlainChange =
  | { readonly put: KeyPath; readonly properties: Properties; readonly options?: PutOptions }
  | { readonly insert: KeyPath; readonly properties: Properties; readonly options?: PutOptions }
  | { readonly remove: readonly KeyPath[] }

/** A transaction that was begun; what it writes comes with the commit. */
export interface Transaction {
  get(key: KeyPath): Promise<Entity | undefined>
  getAll(keys: readonly KeyPath[]): Promise<(Entity | undefined)[]>
  query(options: QueryOptions): Promise<QueryPage>
  /** @throws ABORTED after a conflict */
  commit(changes: readonly PlainChange[]): Promise<void>
  rollback(): Promise<void>
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
  /** Calls that the simulated servers were too busy for. */
  refused = 0
  /** Calls that ended in ABORTED. */
  conflicts = 0
  /** Virtual milliseconds of each commit, by the root key of its group. */
  readonly commitsOf: Map<string, number[]> = new Map()
}

export interface DbParts {
  readonly store: Store
  readonly random: Random
  readonly rpcMs: number
  readonly meter?: Meter
  /** Counts as well. */
  readonly totals?: Meter
  /** Answers come back at multiples of it, so that many go to the program's process at once; default 5. */
  readonly answersEveryMs?: number
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

const operators: Readonly<Record<string, PropertyOperator>> = {
  '=': 'equal',
  '<': 'lessThan',
  '<=': 'lessThanOrEqual',
  '>': 'greaterThan',
  '>=': 'greaterThanOrEqual',
  '!=': 'notEqual',
  in: 'in',
}

export class Db {
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
    this.#count('queries')
    const query = this.#queryOf(options)
    const aggregations = [{ operator: 'count', upTo: undefined, alias: 'n' }] as const
    const { values } = await this.#call('read', (context) =>
      this.#database.runAggregationQuery(context, { query, aggregations }),
    )
    const value = values.get('n')
    return value?.type === 'integer' ? Number(value.value) : 0
  }

  async begin(): Promise<Transaction> {
    const token = await this.#call('read', (context) => this.#database.beginTransaction(context, { mode: 'readWrite' }))
    const getAll = (keys: readonly KeyPath[]): Promise<(Entity | undefined)[]> => this.#getAll(keys, token)
    return {
      get: async (key) => (await getAll([key]))[0],
      getAll,
      query: (options) => this.#query(options, token),
      commit: (changes) =>
        this.#commit(
          changes.flatMap((change) => this.#changesOf(change)),
          token,
        ),
      // A transaction that lost a conflict has ended already.
      rollback: async () => void (await this.#database.rollback(this.#context(), token)),
    }
  }

  async #getAll(keys: readonly KeyPath[], transaction: Uint8Array | undefined): Promise<(Entity | undefined)[]> {
    this.#count('lookups')
    this.#count('keysRead', keys.length)
    const wanted = keys.map((key) => this.#key(key))
    const request = { keys: wanted, ...(transaction === undefined ? {} : { read: { transaction } }) }
    const { found } = await this.#call('read', (context) => this.#database.lookup(context, request))
    const byPath = new Map(found.map(({ key, image }) => [words(key), entityOf(key, image)]))
    return wanted.map((key) => byPath.get(words(key)))
  }

  /** In as many calls as it takes: one call passes over 1,000 results at most. */
  async #query(options: QueryOptions, transaction: Uint8Array | undefined): Promise<QueryPage> {
    this.#count('queries')
    const entities: Entity[] = []
    let query = this.#queryOf(options)
    for (;;) {
      const request = { query, ...(transaction === undefined ? {} : { read: { transaction } }) }
      const { batch, metrics } = await this.#call('read', (context) =>
        this.#database.explainQuery(context, request, { analyze: true }),
      )
      this.#count('rowsRead', (metrics.stats?.indexEntriesScanned ?? 0) + (metrics.stats?.documentsScanned ?? 0))
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

  #changesOf(change: PlainChange): Change[] {
    if ('remove' in change) return change.remove.map((key) => this.#removal(key))
    const { properties, options } = change
    return [
      'put' in change
        ? this.#change('upsert', change.put, properties, options)
        : this.#change('insert', change.insert, properties, options),
    ]
  }

  #removal(path: KeyPath): Change {
    const key = this.#key(path)
    return { key, mutation: { operation: 'delete', key } }
  }

  async #commit(changes: readonly Change[], transaction?: Uint8Array): Promise<void> {
    this.#count('commits')
    const mutations = changes.map(({ mutation }) => mutation)
    const request =
      transaction === undefined
        ? ({ mode: 'nonTransactional', mutations } as const)
        : ({ mode: 'transactional', transaction, mutations } as const)
    // A transaction ends with its first commit: it is run again as a whole.
    const retries = transaction === undefined ? this.#parts.retries : 0
    const { mutationResults } = await this.#call('write', (context) => this.#database.commit(context, request), retries)
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

  #count(
    what: 'calls' | 'lookups' | 'queries' | 'commits' | 'keysRead' | 'rowsRead' | 'refused' | 'conflicts',
    by = 1,
  ): void {
    for (const meter of [this.meter, this.#parts.totals]) if (meter !== undefined) meter[what] += by
  }

  #key(key: KeyPath): Key {
    return this.#parts.store.key(...pathOf(key))
  }

  #context(): RequestContext {
    return this.#parts.context?.() ?? this.#parts.store.context()
  }

  /** There, the work, and back (DB1). */
  async #call<T>(
    kind: 'read' | 'write',
    work: (context: RequestContext) => T | Promise<T>,
    retries = this.#parts.retries ?? 0,
  ): Promise<T> {
    const { store, rpcMs, before } = this.#parts
    for (let attempt = 0; ; attempt++) {
      this.#count('calls')
      before?.(kind)
      await store.sleep(rpcMs / 2)
      try {
        return await work(this.#context())
      } catch (error) {
        if (hasCode(error, 'ABORTED')) this.#count('conflicts')
        if (isBusy(error)) this.#count('refused')
        if (attempt >= retries || !isBusy(error)) throw error
        await store.sleep(100 * 2 ** attempt * (0.5 + this.#parts.random.next() / 2))
      } finally {
        await store.sleep(this.#untilAnswer())
      }
    }
  }

  /** The way back, to the next moment at which answers arrive. */
  #untilAnswer(): number {
    const { store, rpcMs, answersEveryMs = 5 } = this.#parts
    const atMs = store.nowMs
    return rpcMs === 0 && answersEveryMs === 0
      ? 0
      : Math.ceil((atMs + rpcMs / 2) / answersEveryMs) * answersEveryMs - atMs
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
