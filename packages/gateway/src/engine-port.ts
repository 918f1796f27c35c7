/**
 * What the gateway uses of an engine: the verbs of a database, contexts and a reset. The engine's own class fits this
 * shape; tests of the protocols pass a small double.
 */
import type {
  CommitRequest,
  CommitResult,
  Key,
  LookupRequest,
  LookupResult,
  MaybePromise,
  QueryBatch,
  RequestContext,
  RunQueryRequest,
} from '@sixtables/engine'

export interface DatabasePort {
  lookup(context: RequestContext, request: LookupRequest): MaybePromise<LookupResult>
  runQuery(context: RequestContext, request: RunQueryRequest): MaybePromise<QueryBatch>
  commit(context: RequestContext, request: CommitRequest): MaybePromise<CommitResult>
  allocateIds(context: RequestContext, keys: readonly Key[]): MaybePromise<readonly Key[]>
  reserveIds(context: RequestContext, keys: readonly Key[]): MaybePromise<void>
}

export interface ResetScope {
  readonly projectId?: string | undefined
  readonly databaseId?: string | undefined
  readonly namespaceId?: string | undefined
}

export interface EnginePort {
  /** An empty `databaseId` is the default database. */
  database(projectId: string, databaseId: string): DatabasePort
  /** A context whose clock, and what else does not depend on the call, is used for every call. */
  context(): RequestContext
  reset(scope: ResetScope): MaybePromise<void>
}
