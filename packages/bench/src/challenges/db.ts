/** The Datastore client of a challenge's program in JavaScript: few verbs on plain values, over a {@link ChargedDatabase}. */
import {
  decodeProperties,
  type EntityImage,
  type Filter,
  type Key,
  type Mutation,
  type PropertyOperator,
  type Query,
} from '@sixtables/engine'
import { integerOf } from '../sim/client.ts'
import { allOf, entityBytes, orderOf, whereKey, where as whereProperty } from '../sim/entities.ts'
import { wordsOfPath } from '../sim/keys.ts'
import type { Store } from '../sim/store.ts'
import { ChargedDatabase, type DbParts, type Meter } from './charged-database.ts'
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
  readonly cursor: string
}

/** A write as the call of a program: its name and arguments. */
export type Change =
  | readonly ['put' | 'insert', key: KeyPath, properties: Properties, options?: PutOptions]
  | readonly ['remove', ...keys: KeyPath[]]

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
  readonly charged: ChargedDatabase
  readonly #store: Store

  constructor(parts: DbParts) {
    this.charged = new ChargedDatabase(parts)
    this.#store = parts.store
  }

  get meter(): Meter {
    return this.charged.meter
  }

  /** Simulated milliseconds. */
  now(): number {
    return Number(this.#store.clock.nowMicros() / 1000n)
  }

  /** For an hour at most. */
  sleep(ms: number): Promise<void> {
    if (typeof ms !== 'number' || !(ms >= 0)) throw new TypeError(`sleep takes milliseconds, not ${String(ms)}`)
    return this.#store.sleep(Math.min(ms, 3_600_000))
  }

  async allocateId(kind: string): Promise<bigint> {
    const [key] = await this.charged.allocateIds([this.#key([kind])])
    const id = key?.path.at(-1)?.id
    if (id === undefined) throw new Error('AllocateIds answered no id')
    return id
  }

  async get(key: KeyPath, transaction?: Uint8Array): Promise<Entity | undefined> {
    return (await this.getAll([key], transaction))[0]
  }

  async getAll(keys: readonly KeyPath[], transaction?: Uint8Array): Promise<(Entity | undefined)[]> {
    const wanted = keys.map((key) => this.#key(key))
    const { found } = await this.charged.lookup({ keys: wanted, ...readIn(transaction) })
    const byPath = new Map(found.map(({ key, image }) => [wordsOfPath(key.path), entityOf(key, image)]))
    return wanted.map(({ path }) => byPath.get(wordsOfPath(path)))
  }

  begin(): Promise<Uint8Array> {
    return this.charged.beginTransaction({ mode: 'readWrite' })
  }

  /** In a transaction all or nothing, and ABORTED after a conflict. */
  async commit(changes: readonly Change[], transaction?: Uint8Array): Promise<void> {
    const mutations = changes.flatMap((change) => this.#mutationsOf(change))
    await this.charged.commit(
      transaction === undefined
        ? { mode: 'nonTransactional', mutations }
        : { mode: 'transactional', transaction: tokenOf(transaction), mutations },
    )
  }

  rollback(transaction: Uint8Array): Promise<void> {
    return this.charged.rollback(tokenOf(transaction))
  }

  /** In as many calls as it takes: one call passes over 1,000 results at most. */
  async query(options: QueryOptions, transaction?: Uint8Array): Promise<QueryPage> {
    const entities: Entity[] = []
    let query = this.#queryOf(options)
    for (let isMore = false; ; isMore = true) {
      const batch = await this.charged.runQuery({ query, ...readIn(transaction) }, { isMore })
      for (const { key, image } of batch.results) {
        entities.push(image === undefined ? { key: keyPathOf(key) } : entityOf(key, image))
      }
      if (batch.moreResults !== 'notFinished') {
        return { entities, cursor: Buffer.from(batch.endCursor).toString('base64') }
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

  async count(options: QueryOptions): Promise<number> {
    const query = this.#queryOf(options)
    const aggregations = [{ operator: 'count', upTo: undefined, alias: 'n' }] as const
    const { values } = await this.charged.runAggregationQuery({ query, aggregations })
    return integerOf(values, 'n')
  }

  #queryOf(options: QueryOptions): Query {
    const { kind, where = [], order = [], ancestor, limit, offset = 0, cursor, keysOnly = false } = options
    const filters = where.map(([property, operator, value]): Filter => {
      const known = operators[operator]
      if (known === undefined)
        throw new TypeError(`there is no operator ${operator}; use ${Object.keys(operators).join(' ')}`)
      if (property === '__key__') return whereKey(known, this.#key(value as KeyPath))
      return whereProperty(property, known, valueFrom(value as Plain))
    })
    if (ancestor !== undefined) filters.push(whereKey('hasAncestor', this.#key(ancestor)))
    return this.#store.query(kind, {
      projection: keysOnly ? ['__key__'] : [],
      ...(filters.length === 0 ? {} : { filter: allOf(...filters) }),
      order: order.map(orderOf),
      offset,
      ...(limit === undefined ? {} : { limit }),
      ...(cursor === undefined ? {} : { startCursor: Buffer.from(cursor, 'base64') }),
    })
  }

  #mutationsOf(change: Change): Mutation[] {
    if (change[0] === 'remove') {
      const [, ...keys] = change
      return keys.map((key) => ({ operation: 'delete', key: this.#key(key) }))
    }
    const [verb, key, properties, options = {}] = change
    const entity = entityBytes(this.#key(key), fieldsOf(properties, options.unindexed))
    return [{ operation: verb === 'put' ? 'upsert' : 'insert', entity }]
  }

  #key(key: KeyPath): Key {
    return this.#store.key(...pathOf(key))
  }
}

function readIn(transaction: Uint8Array | undefined): { readonly read?: { readonly transaction: Uint8Array } } {
  return transaction === undefined ? {} : { read: { transaction: tokenOf(transaction) } }
}

/** @throws TypeError for what `begin` did not answer */
function tokenOf(transaction: unknown): Uint8Array {
  if (transaction instanceof Uint8Array) return transaction
  throw new TypeError('a call names no transaction')
}

function entityOf(key: Key, image: EntityImage): Entity {
  const properties = [...decodeProperties(image.properties)].map(([name, value]) => [name, plainOf(value)] as const)
  return { ...Object.fromEntries(properties), key: keyPathOf(key) }
}
