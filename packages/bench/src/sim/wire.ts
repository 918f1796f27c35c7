/**
 * The calls of a lab's client over HTTP JSON, against a running server in real time. (Known: the v1 API's JSON form, here only the
 * part that {@link Client} needs.)
 */
import {
  DatastoreError,
  formatKey,
  type Key,
  type Scheduler,
  type StatusCode,
  statusCodes,
  type Value,
} from '@sixtables/engine'
import type { Random } from '@sixtables/engine/testing'
import { type ArrayChange, type Client, type Found, idOf, type Put, type Stored } from './client.ts'

/** The session of an arm that drives a server. */
export interface WireSession {
  readonly client: Client
  readonly random: Random
  /** Duration of the load. */
  readonly seconds: number
  /** Rate of open-loop arms. */
  readonly opsPerSecond: number
  /** Called after each operation with its duration. */
  done(ms: number): void
  failed(error: unknown): void
  /** Called with the result of a check of the stored data; not every arm has one. */
  judged(verdict: WireVerdict): void
}

/** A statement about the stored data after the calls, and whether it is true. */
export interface WireVerdict {
  readonly says: string
  readonly holds: boolean
  /** The figures behind it, in words. */
  readonly found: string
}

interface Json {
  readonly [name: string]: unknown
}

export interface WireOptions {
  /** `host:port` */
  readonly endpoint: string
  readonly projectId: string
  readonly clock: Scheduler
}

export class WireClient implements Client {
  readonly #options: WireOptions

  constructor(options: WireOptions) {
    this.#options = options
  }

  nowMs(): number {
    return Number(this.#options.clock.nowMicros()) / 1000
  }

  sleep(ms: number): Promise<void> {
    return this.#options.clock.sleep(ms)
  }

  key(...path: Key['path']): Key {
    return { partition: { projectId: this.#options.projectId, databaseId: '', namespaceId: '' }, path }
  }

  async begin(): Promise<Uint8Array> {
    const { transaction } = await this.#post('beginTransaction', { transactionOptions: { readWrite: {} } })
    return Buffer.from(String(transaction), 'base64')
  }

  async rollback(transaction: Uint8Array): Promise<void> {
    await this.#post('rollback', { transaction: base64(transaction) })
  }

  async lookup(key: Key, transaction?: Uint8Array): Promise<Found | undefined> {
    const readOptions = transaction === undefined ? {} : { readOptions: { transaction: base64(transaction) } }
    const { found } = await this.#post('lookup', { keys: [keyJson(key)], ...readOptions })
    return foundOf(found)
  }

  async read(keys: readonly Key[]): Promise<readonly (Stored | undefined)[]> {
    const { found } = await this.#post('lookup', { keys: keys.map(keyJson) })
    const stored = new Map<string, Stored>()
    for (const { entity, version } of (found ?? []) as readonly EntityResultJson[]) {
      const path = entity.key.path.map(({ kind, id, name }) =>
        id === undefined ? { kind, name } : { kind, id: BigInt(id) },
      )
      stored.set(formatKey(this.key(...(path as Key['path']))), { fields: fieldsOf(entity), version: BigInt(version) })
    }
    return keys.map((key) => stored.get(formatKey(key)))
  }

  async commit(puts: readonly Put[], transaction?: Uint8Array): Promise<void> {
    const how =
      transaction === undefined
        ? { mode: 'NON_TRANSACTIONAL' }
        : { mode: 'TRANSACTIONAL', transaction: base64(transaction) }
    await this.#post('commit', { ...how, mutations: puts.map(mutationJson) })
  }

  async commitAtomically(puts: readonly Put[]): Promise<void> {
    const how = { mode: 'TRANSACTIONAL', singleUseTransaction: { readWrite: {} } }
    await this.#post('commit', { ...how, mutations: puts.map(mutationJson) })
  }

  async allocateId(key: Key): Promise<bigint> {
    const { keys } = await this.#post('allocateIds', { keys: [keyJson(key)] })
    const [complete] = keys as { path: { kind: string; id?: string }[] }[]
    const last = complete?.path.at(-1)
    return idOf(last?.id === undefined ? undefined : this.key({ kind: last.kind, id: BigInt(last.id) }))
  }

  async greatest(kind: string, property: string): Promise<Found | undefined> {
    const query = {
      kind: [{ name: kind }],
      order: [{ property: { name: property }, direction: 'DESCENDING' }],
      limit: 1,
    }
    const { batch } = await this.#post('runQuery', { query })
    return foundOf((batch as Json | undefined)?.['entityResults'])
  }

  async #post(verb: string, body: Json): Promise<Json> {
    const { endpoint, projectId } = this.#options
    const response = await fetch(`http://${endpoint}/v1/projects/${projectId}:${verb}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).catch((error: unknown) => {
      throw new DatastoreError('UNAVAILABLE', `${endpoint} does not answer`, { cause: error })
    })
    const answer = (await response.json()) as Json
    if (response.ok) return answer
    const { status, message } = (answer['error'] ?? {}) as { status?: string; message?: string }
    throw new DatastoreError(isStatus(status) ? status : 'INTERNAL', message ?? `HTTP ${response.status}`)
  }
}

function isStatus(status: string | undefined): status is StatusCode {
  return status !== undefined && Object.hasOwn(statusCodes, status)
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}

function keyJson({ partition, path }: Key): Json {
  return {
    partitionId: { projectId: partition.projectId },
    path: path.map(({ kind, id, name }) => (id !== undefined ? { kind, id: `${id}` } : { kind, name })),
  }
}

function valueJson(value: Value): Json {
  const excluded = value.excludeFromIndexes ? { excludeFromIndexes: true } : {}
  switch (value.type) {
    case 'integer':
      return { integerValue: `${value.value}`, ...excluded }
    case 'string':
      return { stringValue: value.value, ...excluded }
    case 'boolean':
      return { booleanValue: value.value, ...excluded }
    case 'timestamp': {
      const seconds = new Date(Number(value.micros / 1000n)).toISOString().slice(0, 19)
      return { timestampValue: `${seconds}.${String(value.micros % 1_000_000n).padStart(6, '0')}Z`, ...excluded }
    }
    case 'array':
      return { arrayValue: { values: value.values.map(valueJson) } }
    case 'null':
    case 'double':
    case 'blob':
    case 'geoPoint':
    case 'key':
    case 'entity':
      throw new Error(`labs send no ${value.type} values over the wire`)
  }
}

function mutationJson({ operation, key, fields, only, baseVersion, arrays }: Put): Json {
  return {
    [operation]: {
      key: keyJson(key),
      properties: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, valueJson(value)])),
    },
    ...(only === undefined ? {} : { propertyMask: { paths: only } }),
    ...(baseVersion === undefined ? {} : { baseVersion: `${baseVersion}`, conflictResolutionStrategy: 'FAIL' }),
    ...(arrays === undefined ? {} : { propertyTransforms: arrays.map(transformJson) }),
  }
}

function transformJson({ property, change, values }: ArrayChange): Json {
  const array = { values: values.map(valueJson) }
  return { property, ...(change === 'append' ? { appendMissingElements: array } : { removeAllFromArray: array }) }
}

interface EntityJson {
  readonly key: { readonly path: readonly { kind: string; id?: string; name?: string }[] }
  readonly properties?: Readonly<Record<string, Json>>
}

interface EntityResultJson {
  readonly entity: EntityJson
  readonly version: string
}

function foundOf(results: unknown): Found | undefined {
  const [first] = (results ?? []) as readonly EntityResultJson[]
  return first === undefined ? undefined : fieldsOf(first.entity)
}

function fieldsOf({ properties }: EntityJson): Found {
  return new Map(
    Object.entries(properties ?? {}).flatMap(([name, json]) => {
      const value = valueFromJson(json)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

function valueFromJson(json: Json): Value | undefined {
  if (typeof json['integerValue'] === 'string') return { type: 'integer', value: BigInt(json['integerValue']) }
  if (typeof json['stringValue'] === 'string') return { type: 'string', value: json['stringValue'] }
  if (typeof json['booleanValue'] === 'boolean') return { type: 'boolean', value: json['booleanValue'] }
  const array = json['arrayValue'] as { readonly values?: readonly Json[] } | undefined
  if (array === undefined) return undefined
  return { type: 'array', values: (array.values ?? []).flatMap((each) => valueFromJson(each) ?? []) }
}
