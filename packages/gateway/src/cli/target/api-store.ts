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
  type Key,
  limits,
  type MoreResults,
  type Query,
  statusCodes,
  type Value,
} from '@sixtables/engine'
import { explainPath, type PlanReport } from '../../admin/emulator/explain.ts'
import { messageOf } from '../../call.ts'
import { type AnswerWriter, writeAnswer } from '../../convert/answer-writer.ts'
import { contentsOf, numberOf } from '../../convert/wire-fields.ts'
import { anyQuery, type EntityPage, type FixtureStore, type StoredEntity } from '../../fixtures/store.ts'
import type { BoundAggregation } from '../../gql/gql.ts'
import { writeAggregationQuery, writeQuery } from '../../gql/write-query.ts'
import { moreResultsTypes } from '../../handlers/run-query.ts'
import { dataMethodOf, type MethodName } from '../../methods.ts'
import type { Flags, Io } from '../framework/command.ts'
import { OperationError } from '../framework/errors.ts'
import { ask, bodyOf, errorIn, NoSuchEndpoint, refusal, type Target } from './ask.ts'
import { databaseOf, projectOf } from './places.ts'
import { withTarget } from './target.ts'

export interface QueryPage {
  readonly entities: readonly StoredEntity[]
  readonly endCursor: Uint8Array
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

const nonTransactional = 2

export function withApi<T>(
  flags: Flags,
  io: Io,
  work: (store: ApiStore) => Promise<T>,
  opening?: Parameters<typeof withTarget>[3],
): Promise<T> {
  const [project, database] = [projectOf(flags, io.env), databaseOf(flags)]
  return withTarget(flags, io, (target) => work(new ApiStore(target, project, database)), opening)
}

export class ApiStore implements FixtureStore {
  readonly #target: Target
  readonly projectId: string
  /** Empty: the default database. */
  readonly databaseId: string

  constructor(target: Target, projectId: string, databaseId: string) {
    this.#target = target
    this.projectId = projectId
    this.databaseId = databaseId
  }

  get place(): string {
    return this.#target.place
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

  async delete(keys: readonly Key[]): Promise<void> {
    await this.#commit(keys, (writer, key) => writer.key(7, key))
  }

  async lookup(key: Key): Promise<StoredEntity | undefined> {
    const [result = nothing] = contentsOf(await this.#lookup([key]), 1)
    const [entity] = contentsOf(result, 1)
    return entity === undefined ? undefined : { key, properties: decodeProperties(entity) }
  }

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
    const query = { ...anyQuery, partition: { projectId, databaseId, namespaceId }, kind, startCursor: after }
    const { entities, endCursor, moreResults } = await this.runQuery(query)
    return { entities, next: moreResults === 'noMoreResults' ? undefined : endCursor }
  }

  async runQuery(query: Query, explain = false): Promise<QueryPage> {
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

  async aggregate(bound: BoundAggregation, explain = false): Promise<AggregationPage> {
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
  async plan(gql: string, namespace: string): Promise<readonly string[]> {
    const body = { project: this.projectId, database: this.databaseId, namespace, gql }
    try {
      return (await ask<PlanReport>(this.#target, { method: 'POST', path: explainPath, body })).plan
    } catch (error) {
      // Google's emulators do not have this path.
      if (error instanceof NoSuchEndpoint) return []
      throw error
    }
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

  /** Calls a method; `write` writes its fields but project and database, the last one first. @throws OperationError, UsageError */
  async #send(method: MethodName, write: (writer: AnswerWriter) => void): Promise<Buffer> {
    const request = writeAnswer((writer) => {
      writer.text(9, this.databaseId)
      writer.text(8, this.projectId)
      write(writer)
    })
    const { place } = this.#target
    const path = `/v1/projects/${encodeURIComponent(this.projectId)}:${dataMethodOf(method)}`
    const headers = { 'content-type': 'application/x-protobuf' }
    const sent = { method: 'POST', headers, body: new Uint8Array(messageOf(request)) }
    const response = await this.#target.fetch(path, sent)
    const body = await bodyOf(this.#target, response)
    const type = response.headers.get('content-type') ?? 'no type'
    if (response.ok && type.includes('protobuf')) return body
    if (response.ok) throw new OperationError(`${place} answered ${method} with ${type}; it is no Datastore`)
    // A connection is refused before its request is read, in JSON.
    if (type.includes('json')) {
      const { status: code, message } = errorIn(body.toString())
      throw refusal(code, message ?? `${place} answered ${response.status} to ${method}`)
    }
    const status = statusIn(body)
    const code = Object.entries(statusCodes).find(([, number]) => number === status.code)?.[0]
    throw refusal(code, status.message ?? `${place} answered ${response.status} to ${method}`)
  }
}

const nothing = new Uint8Array(0)

const analyze = 1

function moreResultsOf(number: number): MoreResults {
  const [name] = Object.entries(moreResultsTypes).find(([, type]) => type === number) ?? []
  return (name as MoreResults | undefined) ?? 'noMoreResults'
}

/** Decodes a google.rpc.Status {code 1, message 2}; empty for the body of another kind of server. */
function statusIn(body: Buffer): { readonly code?: number; readonly message?: string | undefined } {
  try {
    return { code: numberOf(body, 1), message: contentsOf(body, 2)[0]?.toString() }
  } catch {
    return {}
  }
}
