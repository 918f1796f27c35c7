/**
 * A server as a place where a lab's client works: calls over HTTP in protocol buffers, in real time. It uses these fields:
 *
 *   BeginTransactionRequest  transaction_options 10 {read_write 1}       BeginTransactionResponse  transaction 1
 *   RollbackRequest          transaction 1
 *   LookupRequest            read_options 1 {transaction 2}, keys 3      LookupResponse            found 1 {entity 1 {key 1}, version 4}
 *   CommitRequest            transaction 1, mode 5, mutations 6, project 8, single_use_transaction 10 {read_write 1}
 *     Mutation               insert 4, update 5, upsert 6, delete 7, base_version 8, property_mask 9 {paths 1}, conflict 10,
 *                            property_transforms 12 {property 1, append_missing 6 {values 1}, remove_all 7 {values 1}}
 *   AllocateIdsRequest       keys 1                                      AllocateIdsResponse       keys 1
 *   RunQueryRequest          query 3 {kind 3 {name 1}, order 5 {property 1 {name 2}, direction 2}, limit 12 {value 1}}
 *                                                                        RunQueryResponse          batch 1 {entity_results 2 {entity 1 …}}
 *   Status                   code 1, message 2
 *
 * Known: datastore.proto, query.proto, status.proto.
 */
import {
  type CommitRequest,
  DatastoreError,
  decodeKeys,
  encodeKey,
  encodeValue,
  type Key,
  type Mutation,
  type PropertyTransform,
  type Query,
  type RequestContext,
  requestContext,
  type Scheduler,
  type StatusCode,
  statusCodes,
} from '@sixtables/engine'
import type { Random } from '@sixtables/engine/testing'
import type { Client, Place, Result, Verbs } from './client.ts'
import { bytesOf, contentsOf, type Message, numberOf } from './messages.ts'

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

export interface WireOptions {
  /** `host:port` */
  readonly endpoint: string
  readonly projectId: string
  readonly clock: Scheduler
  /** Without an answer a call ends with UNAVAILABLE before this moment, and after it with CANCELLED, so that those who insist end too. */
  readonly loadEndMs?: number
}

export class Server implements Place {
  readonly #options: WireOptions

  constructor(options: WireOptions) {
    this.#options = options
  }

  get nowMs(): number {
    return Number(this.#options.clock.nowMicros()) / 1000
  }

  sleep(ms: number): Promise<void> {
    return this.#options.clock.sleep(ms)
  }

  context(): RequestContext {
    return requestContext({ clock: this.#options.clock })
  }

  key(...path: Key['path']): Key {
    return { partition: { projectId: this.#options.projectId, databaseId: '', namespaceId: '' }, path }
  }

  readonly database: Verbs = {
    beginTransaction: async () => {
      const answer = await this.#post('beginTransaction', { 10: { 1: {} } })
      return contentsOf(answer, 1)[0] ?? nothing
    },
    rollback: (_, transaction) => this.#post('rollback', { 1: transaction }),
    lookup: async (_, { keys, read }) => {
      const answer = await this.#post('lookup', { 1: read && { 2: read.transaction }, 3: keys.map(encodeKey) })
      return { found: this.#resultsOf(answer, 1) }
    },
    commit: (_, request) => this.#post('commit', commitMessage(request)),
    allocateIds: async (_, keys) => {
      const answer = await this.#post('allocateIds', { 1: keys.map(encodeKey) })
      return decodeKeys(answer, 1, this.key().partition)
    },
    runQuery: async (_, { query }) => {
      const [batch = nothing] = contentsOf(await this.#post('runQuery', { 3: queryMessage(query) }), 1)
      return { results: this.#resultsOf(batch, 2) }
    },
  }

  #resultsOf(message: Uint8Array, field: number): Result[] {
    return contentsOf(message, field).flatMap((result) => {
      const [properties = nothing] = contentsOf(result, 1)
      const image = { properties, version: numberOf(result, 4) }
      return decodeKeys(properties, 1, this.key().partition).map((key) => ({ key, image }))
    })
  }

  async #post(verb: string, request: Message): Promise<Uint8Array> {
    const { endpoint, projectId, loadEndMs = Number.POSITIVE_INFINITY } = this.#options
    const lost = (cause: unknown): never => {
      const code = this.nowMs < loadEndMs ? 'UNAVAILABLE' : 'CANCELLED'
      throw new DatastoreError(code, `${endpoint} does not answer`, { cause })
    }
    const response = await fetch(`http://${endpoint}/v1/projects/${projectId}:${verb}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-protobuf' },
      body: Buffer.from(bytesOf(request)),
    }).catch(lost)
    const answer = new Uint8Array(await response.arrayBuffer().catch(lost))
    if (!response.headers.get('content-type')?.includes('protobuf'))
      throw new DatastoreError('INTERNAL', `HTTP ${response.status} without a message of the API`)
    if (response.ok) return answer
    const code = Number(numberOf(answer, 1))
    const status = (Object.keys(statusCodes) as StatusCode[]).find((name) => statusCodes[name] === code)
    throw new DatastoreError(status ?? 'INTERNAL', Buffer.from(contentsOf(answer, 2)[0] ?? nothing).toString())
  }
}

const nothing = new Uint8Array()

export function commitMessage({ mode, transaction, singleUse, mutations }: CommitRequest): Message {
  return {
    1: transaction,
    5: mode === 'transactional' ? 1 : 2,
    6: mutations.map(mutationMessage),
    10: singleUse && { 1: {} },
  }
}

/** The number of `FAIL` among the strategies for conflicts. */
const failStrategy = 3

function mutationMessage(mutation: Mutation): Message {
  if (mutation.operation === 'delete') return { 7: encodeKey(mutation.key) }
  const { operation, entity, conflict, propertyMask, transforms } = mutation
  return {
    [{ insert: 4, update: 5, upsert: 6 }[operation]]: entity,
    8: conflict?.baseVersion,
    9: propertyMask && { 1: propertyMask },
    10: conflict && failStrategy,
    12: transforms?.map(transformMessage),
  }
}

function transformMessage(transform: PropertyTransform): Message {
  if (!('values' in transform)) throw new Error(`labs send no transform ${transform.type}`)
  const { property, type, values } = transform
  return { 1: property, [type === 'appendMissing' ? 6 : 7]: { 1: values.map(encodeValue) } }
}

function queryMessage({ kind, order, limit }: Query): Message {
  return {
    3: { 1: kind },
    5: order.map(({ property, direction }) => ({ 1: { 2: property }, 2: direction === 'ascending' ? 1 : 2 })),
    12: limit === undefined ? undefined : { 1: limit },
  }
}
