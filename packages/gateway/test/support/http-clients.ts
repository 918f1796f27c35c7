/**
 * Two small clients of HTTP that share no code with the gateway: one speaks JSON written by hand, the other protobuf by
 * protobufjs over the published protos. What differs between them is how a form says bytes, instants and integers.
 */
import type { MethodName } from '../../src/methods.ts'
import {
  type Address,
  type ApiClient,
  type Batch,
  type Comparison,
  type Page,
  type Path,
  type Plain,
  type PlainEntity,
  type PlainKey,
  type PlainQuery,
  pageOf,
} from './api-client.ts'
import { decodeAnswer, decodeStatus, encodeRequest } from './published-protos.ts'

/** A message in either form. */
type Message = { readonly [member: string]: unknown }

interface Form {
  readonly contentType: string
  encode(method: MethodName, message: Message): string | Buffer
  decode(method: MethodName, body: Buffer): Message
  /** google.rpc.Code and text of an error's body. */
  error(body: Buffer): { readonly code: number; readonly message: string }
  bytes(value: Buffer): unknown
  readBytes(value: unknown): Buffer
  instant(value: Date): unknown
  readInstant(value: unknown): Date
  limit(value: number): unknown
}

const codesByName: Readonly<Record<string, number>> = { INVALID_ARGUMENT: 3, NOT_FOUND: 5, ALREADY_EXISTS: 6 }

const jsonForm: Form = {
  contentType: 'application/json',
  encode: (_method, message) => JSON.stringify(message),
  decode: (_method, body) => JSON.parse(body.toString('utf8')),
  error(body) {
    const { status, message } = JSON.parse(body.toString('utf8')).error
    return { code: codesByName[status] ?? 2, message }
  },
  bytes: (value) => value.toString('base64'),
  readBytes: (value) => Buffer.from(String(value), 'base64'),
  instant: (value) => value.toISOString(),
  readInstant: (value) => new Date(String(value)),
  limit: (value) => value,
}

const protobufForm: Form = {
  contentType: 'application/x-protobuf',
  encode: encodeRequest,
  decode: decodeAnswer,
  error: decodeStatus,
  bytes: (value) => value,
  readBytes: (value) => Buffer.from(value as Uint8Array),
  instant: (value) => ({ seconds: Math.floor(value.getTime() / 1000), nanos: (value.getTime() % 1000) * 1_000_000 }),
  readInstant(value) {
    const { seconds = 0, nanos = 0 } = value as { seconds?: string | number; nanos?: number }
    return new Date(Number(seconds) * 1000 + nanos / 1_000_000)
  },
  limit: (value) => ({ value }),
}

const operators: Readonly<Record<Comparison, string>> = {
  '=': 'EQUAL',
  '<': 'LESS_THAN',
  '<=': 'LESS_THAN_OR_EQUAL',
  '>': 'GREATER_THAN',
  '>=': 'GREATER_THAN_OR_EQUAL',
  '!=': 'NOT_EQUAL',
  IN: 'IN',
}

export const openJsonClient = async (at: Address): Promise<ApiClient> => new HttpClient(jsonForm, at)
export const openProtobufClient = async (at: Address): Promise<ApiClient> => new HttpClient(protobufForm, at)

class ApiError extends Error {
  readonly code: number

  constructor({ code, message }: { readonly code: number; readonly message: string }) {
    super(message)
    this.code = code
  }
}

class HttpClient implements ApiClient {
  readonly #form: Form
  readonly #url: string

  constructor(form: Form, { host, port }: Address) {
    this.#form = form
    this.#url = `http://${host}:${port}/v1/projects/api:`
  }

  async write(operation: 'insert' | 'update' | 'upsert', entities: readonly PlainEntity[]): Promise<readonly Path[]> {
    const mutations = entities.map((entity) => ({ [operation]: this.#entity(entity) }))
    const { mutationResults = [] } = await this.#commit(mutations)
    return (mutationResults as Message[]).map(({ key }, i) =>
      key === undefined ? (entities[i]?.path ?? []) : plainKey(key as Message).path,
    )
  }

  async remove(keys: readonly PlainKey[]): Promise<void> {
    await this.#commit(keys.map((key) => ({ delete: wireKey(key) })))
  }

  async read(keys: readonly PlainKey[]): Promise<readonly (PlainEntity | undefined)[]> {
    const { found = [] } = await this.#call('lookup', 'Lookup', { keys: keys.map(wireKey) })
    const entities = (found as Message[]).map(({ entity }) => this.#plainEntity(entity as Message))
    const byName = new Map(entities.map((entity) => [nameOf(entity), entity]))
    return keys.map((key) => byName.get(nameOf(key)))
  }

  query(query: PlainQuery): Promise<Page> {
    return pageOf(query, (part) => this.#batch(part))
  }

  async #batch(query: PlainQuery): Promise<Batch> {
    const { namespace } = query
    const { batch } = await this.#call('runQuery', 'RunQuery', {
      ...(namespace === undefined ? {} : { partitionId: { namespaceId: namespace } }),
      query: this.#query(query),
    })
    const { entityResults = [], endCursor, moreResults } = batch as Message
    return {
      entities: (entityResults as Message[]).map(({ entity }) => this.#plainEntity(entity as Message)),
      cursor: this.#form.readBytes(endCursor).toString('base64'),
      hasMore: moreResults !== 'NO_MORE_RESULTS',
      isFinished: moreResults !== 'NOT_FINISHED',
    }
  }

  async allocate(path: Path, count: number): Promise<readonly Path[]> {
    const { keys } = await this.#call('allocateIds', 'AllocateIds', {
      keys: Array.from({ length: count }, () => wireKey({ path })),
    })
    return (keys as Message[]).map((key) => plainKey(key).path)
  }

  async close(): Promise<void> {}

  #commit(mutations: readonly Message[]): Promise<Message> {
    return this.#call('commit', 'Commit', { mode: 'NON_TRANSACTIONAL', mutations })
  }

  async #call(verb: string, method: MethodName, message: Message): Promise<Message> {
    const { contentType } = this.#form
    const response = await fetch(this.#url + verb, {
      method: 'POST',
      headers: { 'content-type': contentType },
      // The types of Node and those of a browser, where the site's tests see this file, know different bodies.
      body: this.#form.encode(method, message) as string | Uint8Array<ArrayBuffer>,
    })
    const body = Buffer.from(await response.arrayBuffer())
    if (!response.ok) throw new ApiError(this.#form.error(body))
    return this.#form.decode(method, body)
  }

  #query({ kind, namespace, filters = [], ancestor, order = [], limit, offset, after, keysOnly }: PlainQuery): Message {
    const conditions = filters.map(([property, comparison, value]) =>
      filter(property, operators[comparison], this.#value(value)),
    )
    if (ancestor !== undefined) {
      const key = wireKey(namespace === undefined ? { path: ancestor } : { path: ancestor, namespace })
      conditions.push(filter('__key__', 'HAS_ANCESTOR', { keyValue: key }))
    }
    return {
      kind: [{ name: kind }],
      ...(conditions.length === 0 ? {} : { filter: { compositeFilter: { op: 'AND', filters: conditions } } }),
      order: order.map((name) => ({
        property: { name: name.replace(/^-/, '') },
        direction: name.startsWith('-') ? 'DESCENDING' : 'ASCENDING',
      })),
      ...(limit === undefined ? {} : { limit: this.#form.limit(limit) }),
      ...(offset === undefined ? {} : { offset }),
      ...(after === undefined ? {} : { startCursor: this.#form.bytes(Buffer.from(after, 'base64')) }),
      ...(keysOnly === true ? { projection: [{ property: { name: '__key__' } }] } : {}),
    }
  }

  #entity(entity: PlainEntity): Message {
    return { key: wireKey(entity), ...this.#properties(entity.properties) }
  }

  #properties(properties: { readonly [name: string]: Plain }): Message {
    return { properties: mapValues(properties, (value) => this.#value(value)) }
  }

  #value(value: Plain): Message {
    if (value === null) return { nullValue: 'NULL_VALUE' }
    if (typeof value === 'boolean') return { booleanValue: value }
    if (typeof value === 'string') return { stringValue: value }
    if (typeof value === 'number')
      return Number.isInteger(value) ? { integerValue: `${value}` } : { doubleValue: value }
    if (value instanceof Date) return { timestampValue: this.#form.instant(value) }
    if (Buffer.isBuffer(value)) return { blobValue: this.#form.bytes(value) }
    if (Array.isArray(value)) return { arrayValue: { values: value.map((item) => this.#value(item)) } }
    return { entityValue: this.#properties(value as { readonly [name: string]: Plain }) }
  }

  #plainEntity({ key, properties = {} }: Message): PlainEntity {
    return { ...plainKey(key as Message), properties: this.#plainProperties(properties) }
  }

  #plainProperties(properties: unknown): PlainEntity['properties'] {
    return mapValues(properties as { readonly [name: string]: Message }, (value) => this.#plainValue(value))
  }

  #plainValue(value: Message): Plain {
    const [member = '', content] = Object.entries(value).find(([name]) => name.endsWith('Value')) ?? []
    switch (member) {
      case 'nullValue':
        return null
      case 'booleanValue':
      case 'stringValue':
      case 'doubleValue':
        return content as Plain
      case 'integerValue':
        return Number(content)
      case 'timestampValue':
        return this.#form.readInstant(content)
      case 'blobValue':
        return this.#form.readBytes(content)
      case 'arrayValue':
        return (((content as Message)['values'] ?? []) as Message[]).map((item) => this.#plainValue(item))
      case 'entityValue':
        return this.#plainProperties((content as Message)['properties'] ?? {})
      default:
        throw new Error(`the answer has a value of ${member}`)
    }
  }
}

function filter(property: string, op: string, value: Message): Message {
  return { propertyFilter: { property: { name: property }, op, value } }
}

function wireKey({ path, namespace }: PlainKey): Message {
  const elements: Message[] = []
  for (let i = 0; i < path.length; i += 2) {
    const end = path[i + 1]
    const identifier = end === undefined ? {} : typeof end === 'number' ? { id: `${end}` } : { name: end }
    elements.push({ kind: path[i], ...identifier })
  }
  return { ...(namespace === undefined ? {} : { partitionId: { namespaceId: namespace } }), path: elements }
}

function plainKey({ partitionId, path }: Message): PlainKey {
  const namespace = (partitionId as Message | undefined)?.['namespaceId']
  const plainPath = (path as { kind: string; id?: string; name?: string }[]).flatMap(({ kind, id, name }) => [
    kind,
    name ?? Number(id),
  ])
  return typeof namespace === 'string' && namespace !== '' ? { path: plainPath, namespace } : { path: plainPath }
}

function nameOf({ path, namespace = '' }: PlainKey): string {
  return JSON.stringify([namespace, path])
}

function mapValues<From, To>(
  members: { readonly [name: string]: From },
  map: (value: From) => To,
): { readonly [name: string]: To } {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, map(value)]))
}
