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
  type Value,
} from '@sixtables/engine'
import { messageOf } from '../../call.ts'
import { type AnswerWriter, writeAnswer } from '../../convert/answer-writer.ts'
import { contentsOf, numberOf } from '../../convert/wire-fields.ts'
import type { FixtureStore, StoredEntity } from '../../fixtures/store.ts'
import type { BoundAggregation } from '../../gql/bind.ts'
import { writeAggregationQuery, writeQuery } from '../../gql/write-query.ts'
import { moreResultsTypes } from '../../handlers/run-query.ts'
import type { MethodName } from '../../methods.ts'
import type { Flags } from '../framework/command.ts'
import type { Io } from '../framework/io.ts'
import { type Api, openApi } from './api-call.ts'

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

export interface ApiStore extends FixtureStore, Pick<Api, 'place' | 'plan'> {
  lookup(key: Key): Promise<StoredEntity | undefined>
  /** The keys without an entity. */
  absent(keys: readonly Key[]): Promise<readonly Key[]>
  /** Deletes outside of a transaction. */
  delete(keys: readonly Key[]): Promise<void>
  /** One batch of results. */
  runQuery(query: Query, options?: Explaining): Promise<QueryPage>
  aggregate(bound: BoundAggregation, options?: Explaining): Promise<AggregationPage>
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
  const api = await openApi(flags, io, options)
  const { project: projectId, database: databaseId, place, plan } = api
  try {
    return await work({ projectId, databaseId, place, plan, ...callsByKey(api), ...queriesOf(api) })
  } finally {
    await api.close()
  }
}

function callsByKey(api: Api): Pick<ApiStore, 'allocateIds' | 'upsert' | 'lookup' | 'absent' | 'delete'> {
  const defaults = { projectId: api.project, databaseId: api.database }
  const lookup = (keys: readonly Key[]): Promise<Buffer> =>
    send(api, 'Lookup', (writer) => {
      for (const key of keys.toReversed()) writer.key(3, key)
    })
  const commit = (mutations: readonly ((writer: AnswerWriter) => void)[]): Promise<Buffer> =>
    send(api, 'Commit', (writer) => {
      for (const mutation of mutations.toReversed()) writer.message(6, () => mutation(writer))
      writer.uint32(5, nonTransactional)
    })
  return {
    async allocateIds(keys) {
      const answer = await send(api, 'AllocateIds', (writer) => {
        for (const key of keys.toReversed()) writer.key(1, key)
      })
      return contentsOf(answer, 1).map((key) => decodeKey(key, defaults))
    },
    async upsert(entities) {
      const answer = await commit(entities.map((entity) => (writer) => writer.bytes(6, entity)))
      return contentsOf(answer, 3).map((result) => {
        const [key] = contentsOf(result, 3)
        return key === undefined ? undefined : decodeKey(key, defaults)
      })
    },
    async lookup(key) {
      const [result = nothing] = contentsOf(await lookup([key]), 1)
      const [entity] = contentsOf(result, 1)
      return entity === undefined ? undefined : { key, properties: decodeProperties(entity) }
    },
    async absent(keys) {
      const missing: Key[] = []
      for (let i = 0; i < keys.length; i += limits.lookupKeysMax) {
        for (const result of contentsOf(await lookup(keys.slice(i, i + limits.lookupKeysMax)), 2)) {
          const [entity = nothing] = contentsOf(result, 1)
          for (const key of contentsOf(entity, 1)) missing.push(decodeKey(key, defaults))
        }
      }
      return missing
    },
    async delete(keys) {
      await commit(keys.map((key) => (writer) => writer.key(7, key)))
    },
  }
}

function queriesOf(api: Api): Pick<ApiStore, 'page' | 'runQuery' | 'aggregate'> {
  const { project: projectId, database: databaseId } = api
  const defaults = { projectId, databaseId }
  const queries: ReturnType<typeof queriesOf> = {
    async page({ namespaceId, kind, after }) {
      const { entities, endCursor, moreResults } = await queries.runQuery({
        ...anyQuery,
        partition: { projectId, databaseId, namespaceId },
        kind,
        startCursor: after,
      })
      return { entities, next: moreResults === 'noMoreResults' ? undefined : endCursor }
    },
    async runQuery(query, { explain = false } = {}) {
      const answer = await send(api, 'RunQuery', (writer) => {
        if (explain) writer.message(12, () => writer.uint32(analyze, 1))
        writeQuery(writer, 3, query)
        writer.partition(2, query.partition)
      })
      const [batch = nothing] = contentsOf(answer, 1)
      return {
        entities: contentsOf(batch, 2).map((result) => {
          const [entity = nothing] = contentsOf(result, 1)
          const [key = nothing] = contentsOf(entity, 1)
          return { key: decodeKey(key, defaults), properties: decodeProperties(entity) }
        }),
        endCursor: contentsOf(batch, 4)[0] ?? nothing,
        skipped: numberOf(batch, 6),
        moreResults: moreResultsOf(numberOf(batch, 5)),
        answer,
      }
    },
    async aggregate(bound, { explain = false } = {}) {
      const answer = await send(api, 'RunAggregationQuery', (writer) => {
        if (explain) writer.message(11, () => writer.uint32(analyze, 1))
        writeAggregationQuery(writer, 3, bound)
        writer.partition(2, bound.query.partition)
      })
      const [batch = nothing] = contentsOf(answer, 1)
      const [result = nothing] = contentsOf(batch, 1)
      const values = contentsOf(result, 2).map((entry): [string, Value] => {
        const [name = nothing] = contentsOf(entry, 1)
        const [value = nothing] = contentsOf(entry, 2)
        return [Buffer.from(name).toString('utf8'), decodeValue(value, defaults)]
      })
      return { values: new Map(values), answer }
    },
  }
  return queries
}

/** Calls a method; `write` writes its fields but project and database, the last one first. */
function send(api: Api, method: MethodName, write: (writer: AnswerWriter) => void): Promise<Buffer> {
  const request = writeAnswer((writer) => {
    writer.text(9, api.database)
    writer.text(8, api.project)
    write(writer)
  })
  return api.call(method, messageOf(request))
}

const nothing = new Uint8Array(0)

/** The field of ExplainOptions. */
const analyze = 1

const anyQuery = { projection: [], order: [], distinctOn: [], offset: 0 } as const

function moreResultsOf(number: number): MoreResults {
  const [name] = Object.entries(moreResultsTypes).find(([, type]) => type === number) ?? []
  return (name as MoreResults | undefined) ?? 'noMoreResults'
}
