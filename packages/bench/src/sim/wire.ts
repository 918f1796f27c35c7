/**
 * The calls of a lab's client over HTTP JSON, against a running server in real time.
 *
 * Known: the v1 API's JSON form. Only what {@link Client} needs of it.
 */
import { DatastoreError, type Key, type Scheduler, type StatusCode, statusCodes, type Value } from '@sixtables/engine'
import type { Random } from '@sixtables/engine/testing'
import { type Client, type Found, idOf, type Put } from './client.ts'

/** What an arm is handed to drive a server. */
export interface WireSession {
  readonly client: Client
  readonly random: Random
  /** How long to go on. */
  readonly seconds: number
  /** Open-loop arms send so many operations a second. */
  readonly opsPerSecond: number
  /** Told of each operation that ended, with its time. */
  done(ms: number): void
  failed(error: unknown): void
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

  async commit(puts: readonly Put[], transaction?: Uint8Array): Promise<void> {
    const mutations = puts.map(({ operation, key, fields }) => ({
      [operation]: {
        key: keyJson(key),
        properties: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, valueJson(value)])),
      },
    }))
    const how =
      transaction === undefined
        ? { mode: 'NON_TRANSACTIONAL' }
        : { mode: 'TRANSACTIONAL', transaction: base64(transaction) }
    await this.#post('commit', { ...how, mutations })
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
    default:
      throw new Error(`labs send no ${value.type} values over the wire`)
  }
}

function foundOf(results: unknown): Found | undefined {
  const [first] = (results ?? []) as { entity: { properties?: Record<string, Json> } }[]
  if (first === undefined) return undefined
  const properties = Object.entries(first.entity.properties ?? {})
  return new Map(properties.flatMap(([name, json]) => valuesOf(json).map((value) => [name, value])))
}

function valuesOf(json: Json): Value[] {
  if (typeof json['integerValue'] === 'string') return [{ type: 'integer', value: BigInt(json['integerValue']) }]
  if (typeof json['stringValue'] === 'string') return [{ type: 'string', value: json['stringValue'] }]
  return []
}
