/**
 * A database over the calls of the data API, for fixtures and queries of the command line. It uses these fields:
 *
 *   LookupRequest      keys 3, project 8, database 9                            LookupResponse       found 1, missing 2 {entity 1 {key 1}}
 *   CommitRequest      mode 5, mutations 6 {upsert 6, delete 7}, project 8, database 9
 *                                                                               CommitResponse       mutation_results 3 {key 3}
 *   AllocateIdsRequest keys 1, project 8, database 9                            AllocateIdsResponse  keys 1
 *   RunQueryRequest    partition_id 2, query 3, project 8, database 9, explain_options 12 {analyze 1}
 *   RunQueryResponse   batch 1 {entity_results 2 {entity 1 {key 1, properties 3}}, end_cursor 4, more_results 5}
 *   RunAggregationQueryRequest   partition_id 2, aggregation_query 3, project 8, database 9, explain_options 11
 *   RunAggregationQueryResponse  batch 1 {aggregation_results 1 {aggregate_properties 2 {key 1, value 2}}}
 *
 * Known: datastore.proto, query.proto.
 */
import {
  decodeKey,
  decodeProperties,
  decodeValue,
  type Engine,
  type Key,
  limits,
  type MoreResults,
  type Query,
  statusCodes,
  systemScheduler,
  type Value,
} from '@sixtables/engine'
import { explainGql, explainPath, type PlanReport } from '../../admin/emulator/explain.ts'
import type { JsonObject } from '../../admin/operations/operations.ts'
import { Call, messageOf } from '../../call.ts'
import { type AnswerWriter, writeAnswer } from '../../convert/answer-writer.ts'
import { contentsOf, numberOf } from '../../convert/wire-fields.ts'
import type { EntityPage, FixtureStore, StoredEntity } from '../../fixtures/store.ts'
import type { BoundAggregation } from '../../gql/bind.ts'
import { writeAggregationQuery, writeQuery } from '../../gql/write-query.ts'
import { handlersOf } from '../../handlers/handlers.ts'
import { moreResultsTypes } from '../../handlers/run-query.ts'
import { dataMethodOf, type MethodName } from '../../methods.ts'
import type { Flags } from '../framework/command.ts'
import { OperationError } from '../framework/errors.ts'
import type { Io } from '../framework/io.ts'
import { databaseOf, projectOf } from './database.ts'
import { closing, openClosedStore, openStore } from './open-store.ts'
import { placeOf } from './places.ts'
import { refusal, refusalOf } from './refusal.ts'
import { askServer, bodyOf, fetchServer } from './remote-target.ts'

export interface QueryPage {
  readonly entities: readonly StoredEntity[]
  readonly endCursor: Uint8Array
  /** Number of results skipped for the offset. */
  readonly skipped: number
  readonly moreResults: MoreResults
  /** The whole answer, which contains the plan. */
  readonly answer: Buffer
}

export interface AggregationPage {
  /** By alias. */
  readonly values: ReadonlyMap<string, Value>
  readonly answer: Buffer
}

/** Whether to ask for the execution statistics. */
interface Explaining {
  readonly explain?: boolean
}

const nonTransactional = 2

/**
 * Does the work with the database of the flags, and closes it.
 *
 * @param options.create - whether to create a store if there is none in the folder
 */
export async function withApi<T>(
  flags: Flags,
  io: Io,
  work: (store: ApiStore) => Promise<T>,
  options: { readonly create?: boolean } = {},
): Promise<T> {
  const project = projectOf(flags, io.env)
  const place = await placeOf(flags, io)
  const databaseId = databaseOf(flags)
  if ('address' in place) return await work(new ApiStore(serverApi(place.address, project), project, databaseId))
  const opened = options.create === true ? openStore({ dir: place.dir }) : openClosedStore(place.dir)
  return await closing(opened, (engine) =>
    work(new ApiStore(folderApi(place.dir, engine, project), project, databaseId)),
  )
}

export class ApiStore implements FixtureStore {
  /** The server's address, or the folder. */
  readonly place: string
  readonly projectId: string
  /** Empty: the default database. */
  readonly databaseId: string
  readonly #api: Api

  constructor(api: Api, projectId: string, databaseId: string) {
    this.place = api.place
    this.projectId = projectId
    this.databaseId = databaseId
    this.#api = api
  }

  async allocateIds(keys: readonly Key[]): Promise<readonly Key[]> {
    const answer = await this.#send('AllocateIds', (writer) => {
      for (const key of keys.toReversed()) writer.key(1, key)
    })
    return contentsOf(answer, 1).map((key) => decodeKey(key, this))
  }

  async upsert(entities: readonly Uint8Array[]): Promise<readonly (Key | undefined)[]> {
    const answer = await this.#commit(entities, (writer, entity) => writer.bytes(6, entity))
    return contentsOf(answer, 3).map((result) => {
      const [key] = contentsOf(result, 3)
      return key === undefined ? undefined : decodeKey(key, this)
    })
  }

  /** Deletes outside of a transaction. */
  async delete(keys: readonly Key[]): Promise<void> {
    await this.#commit(keys, (writer, key) => writer.key(7, key))
  }

  async lookup(key: Key): Promise<StoredEntity | undefined> {
    const [result = nothing] = contentsOf(await this.#lookup([key]), 1)
    const [entity] = contentsOf(result, 1)
    return entity === undefined ? undefined : { key, properties: decodeProperties(entity) }
  }

  /** The keys without an entity. */
  async absent(keys: readonly Key[]): Promise<readonly Key[]> {
    const missing: Key[] = []
    for (let i = 0; i < keys.length; i += limits.lookupKeysMax) {
      for (const result of contentsOf(await this.#lookup(keys.slice(i, i + limits.lookupKeysMax)), 2)) {
        const [entity = nothing] = contentsOf(result, 1)
        for (const key of contentsOf(entity, 1)) missing.push(decodeKey(key, this))
      }
    }
    return missing
  }

  async page({ namespaceId, kind, after }: Parameters<FixtureStore['page']>[0]): Promise<EntityPage> {
    const { projectId, databaseId } = this
    const { entities, endCursor, moreResults } = await this.runQuery({
      ...anyQuery,
      partition: { projectId, databaseId, namespaceId },
      kind,
      startCursor: after,
    })
    return { entities, next: moreResults === 'noMoreResults' ? undefined : endCursor }
  }

  /** One batch of results. */
  async runQuery(query: Query, { explain = false }: Explaining = {}): Promise<QueryPage> {
    const answer = await this.#send('RunQuery', (writer) => {
      if (explain) writer.message(12, () => writer.uint32(analyze, 1))
      writeQuery(writer, 3, query)
      writer.partition(2, query.partition)
    })
    const [batch = nothing] = contentsOf(answer, 1)
    return {
      entities: contentsOf(batch, 2).map((result) => {
        const [entity = nothing] = contentsOf(result, 1)
        const [key = nothing] = contentsOf(entity, 1)
        return { key: decodeKey(key, this), properties: decodeProperties(entity) }
      }),
      endCursor: contentsOf(batch, 4)[0] ?? nothing,
      skipped: numberOf(batch, 6),
      moreResults: moreResultsOf(numberOf(batch, 5)),
      answer,
    }
  }

  async aggregate(bound: BoundAggregation, { explain = false }: Explaining = {}): Promise<AggregationPage> {
    const answer = await this.#send('RunAggregationQuery', (writer) => {
      if (explain) writer.message(11, () => writer.uint32(analyze, 1))
      writeAggregationQuery(writer, 3, bound)
      writer.partition(2, bound.query.partition)
    })
    const [batch = nothing] = contentsOf(answer, 1)
    const [result = nothing] = contentsOf(batch, 1)
    const values = contentsOf(result, 2).map((entry): [string, Value] => {
      const [name = nothing] = contentsOf(entry, 1)
      const [value = nothing] = contentsOf(entry, 2)
      return [Buffer.from(name).toString('utf8'), decodeValue(value, this)]
    })
    return { values: new Map(values), answer }
  }

  /** The plan of a GQL query, in lines; empty from a server without this endpoint. */
  plan(gql: string, namespace: string): Promise<readonly string[]> {
    return this.#api.plan({ project: this.projectId, database: this.databaseId, namespace, gql })
  }

  #lookup(keys: readonly Key[]): Promise<Buffer> {
    return this.#send('Lookup', (writer) => {
      for (const key of keys.toReversed()) writer.key(3, key)
    })
  }

  #commit<T>(all: readonly T[], write: (writer: AnswerWriter, one: T) => void): Promise<Buffer> {
    return this.#send('Commit', (writer) => {
      for (const one of all.toReversed()) writer.message(6, () => write(writer, one))
      writer.uint32(5, nonTransactional)
    })
  }

  /** Calls a method; `write` writes its fields but project and database, the last one first. */
  #send(method: MethodName, write: (writer: AnswerWriter) => void): Promise<Buffer> {
    const request = writeAnswer((writer) => {
      writer.text(9, this.databaseId)
      writer.text(8, this.projectId)
      write(writer)
    })
    return this.#api.call(method, messageOf(request))
  }
}

const nothing = new Uint8Array(0)

/** The field of ExplainOptions. */
const analyze = 1

const anyQuery = { projection: [], order: [], distinctOn: [], offset: 0 } as const

function moreResultsOf(number: number): MoreResults {
  const [name] = Object.entries(moreResultsTypes).find(([, type]) => type === number) ?? []
  return (name as MoreResults | undefined) ?? 'noMoreResults'
}

/** The calls in protobuf: over HTTP to a running server, which may be one of Google's emulators, or directly to the handlers over a folder. */
interface Api {
  readonly place: string
  /** @throws OperationError with the message of the server or handler */
  call(method: MethodName, message: Buffer): Promise<Buffer>
  plan(request: JsonObject): Promise<readonly string[]>
}

function folderApi(dir: string, engine: Engine, project: string): Api {
  const handlers = handlersOf(engine)
  return {
    place: dir,
    async call(method, message) {
      try {
        const call = new Call({ clock: systemScheduler, pathProjectId: project })
        return messageOf(await handlers[method](message, call))
      } catch (error) {
        throw refusalOf(error)
      }
    },
    plan: async (request) => (await explainGql(engine, request)).plan,
  }
}

function serverApi(address: string, project: string): Api {
  return {
    place: address,
    async call(method, message) {
      const response = await fetchServer(
        address,
        `/v1/projects/${encodeURIComponent(project)}:${dataMethodOf(method)}`,
        {
          method: 'POST',
          headers: { 'content-type': 'application/x-protobuf' },
          body: new Uint8Array(message),
        },
      )
      const body = await bodyOf(address, response)
      const type = response.headers.get('content-type') ?? 'no type'
      if (response.ok && type.includes('protobuf')) return body
      if (response.ok) throw new OperationError(`${address} answered ${method} with ${type}; it is no Datastore`)
      const status = statusIn(body)
      const code = Object.entries(statusCodes).find(([, number]) => number === status.code)?.[0]
      throw refusal(code, status.message ?? `${address} answered ${response.status} to ${method}`)
    },
    plan: (request) => planOfServer(address, request),
  }
}

async function planOfServer(address: string, request: JsonObject): Promise<readonly string[]> {
  try {
    return ((await askServer(address, 'POST', explainPath, request)) as PlanReport).plan
  } catch (error) {
    // Google's emulators do not have this path.
    if (error instanceof OperationError) return []
    throw error
  }
}

/** Decodes a google.rpc.Status {code 1, message 2}; empty for the body of another kind of server. */
function statusIn(body: Buffer): { readonly code?: number; readonly message?: string | undefined } {
  try {
    return { code: numberOf(body, 1), message: contentsOf(body, 2)[0]?.toString() }
  } catch {
    return {}
  }
}
