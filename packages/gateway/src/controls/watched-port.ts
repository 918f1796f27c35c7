/**
 * An engine whose calls are noted, and meet the faults of a test first. The gateway's handlers see it in the engine's place,
 * so that every protocol has the same.
 */
import {
  checkAlive,
  DatastoreError,
  decodeKey,
  type Key,
  type MaybePromise,
  type RequestContext,
} from '@sixtables/engine'
import protobuf from 'protobufjs/minimal.js'
import { Call } from '../call.ts'
import { type CallFacts, type DataMethod, type Named, namedOf } from '../calls/call-facts.ts'
import type { Calls } from '../calls/calls.ts'
import type { DatabasePort, EnginePort } from '../engine-port.ts'
import type { Faults } from './faults.ts'

type Parameters<M extends keyof DatabasePort> = globalThis.Parameters<DatabasePort[M]>

/** @param engine - its databases are given out as they are while there is no observer (calls/R2) and there are no faults (faults/F4) */
export function watchedPort(engine: EnginePort, calls: Calls, faults?: Faults): EnginePort {
  return {
    database(projectId, databaseId) {
      const database = engine.database(projectId, databaseId)
      if (!calls.any && faults?.any !== true) return database
      return new WatchedDatabase({ database, faults, projectId, databaseId })
    },
    context: () => engine.context(),
    reset: (scope) => engine.reset(scope),
  }
}

interface WatchedParts {
  readonly database: DatabasePort
  readonly faults: Faults | undefined
  readonly projectId: string
  readonly databaseId: string
}

class WatchedDatabase implements DatabasePort {
  readonly #database: DatabasePort
  readonly #parts: WatchedParts

  constructor(parts: WatchedParts) {
    this.#database = parts.database
    this.#parts = parts
  }

  lookup(...[context, request]: Parameters<'lookup'>): ReturnType<DatabasePort['lookup']> {
    const named = (): readonly Named[] => request.keys.map(namedOf)
    return this.#call('lookup', context, named, () => this.#database.lookup(context, request))
  }

  runQuery(...[context, request]: Parameters<'runQuery'>): ReturnType<DatabasePort['runQuery']> {
    return this.#call('runQuery', context, namedBy(request), () => this.#database.runQuery(context, request))
  }

  explainQuery(...[context, request, options]: Parameters<'explainQuery'>): ReturnType<DatabasePort['explainQuery']> {
    const ask = (): ReturnType<DatabasePort['explainQuery']> => this.#database.explainQuery(context, request, options)
    return this.#call('runQuery', context, namedBy(request), ask)
  }

  runAggregationQuery(
    ...[context, request]: Parameters<'runAggregationQuery'>
  ): ReturnType<DatabasePort['runAggregationQuery']> {
    const ask = (): ReturnType<DatabasePort['runAggregationQuery']> =>
      this.#database.runAggregationQuery(context, request)
    return this.#call('runAggregationQuery', context, namedBy(request), ask)
  }

  explainAggregationQuery(
    ...[context, request, options]: Parameters<'explainAggregationQuery'>
  ): ReturnType<DatabasePort['explainAggregationQuery']> {
    const ask = (): ReturnType<DatabasePort['explainAggregationQuery']> =>
      this.#database.explainAggregationQuery(context, request, options)
    return this.#call('runAggregationQuery', context, namedBy(request), ask)
  }

  beginTransaction(
    ...[context, options]: Parameters<'beginTransaction'>
  ): ReturnType<DatabasePort['beginTransaction']> {
    return this.#call('beginTransaction', context, nothing, () => this.#database.beginTransaction(context, options))
  }

  commit(...[context, request]: Parameters<'commit'>): ReturnType<DatabasePort['commit']> {
    const { projectId, databaseId } = this.#parts
    const named = (): readonly Named[] =>
      request.mutations.map((mutation) =>
        namedOf(
          mutation.operation === 'delete' ? mutation.key : keyOfEntity(mutation.entity, { projectId, databaseId }),
        ),
      )
    const { transaction } = request
    // An aborted transaction is over, and holds no locks: so the client that tries again does not meet its own.
    const aborted = transaction === undefined ? undefined : () => this.#end(context, transaction)
    return this.#call('commit', context, named, () => this.#database.commit(context, request), aborted)
  }

  rollback(...[context, transaction]: Parameters<'rollback'>): ReturnType<DatabasePort['rollback']> {
    return this.#call('rollback', context, nothing, () => this.#database.rollback(context, transaction))
  }

  allocateIds(...[context, keys]: Parameters<'allocateIds'>): ReturnType<DatabasePort['allocateIds']> {
    return this.#call(
      'allocateIds',
      context,
      () => keys.map(namedOf),
      () => this.#database.allocateIds(context, keys),
    )
  }

  reserveIds(...[context, keys]: Parameters<'reserveIds'>): ReturnType<DatabasePort['reserveIds']> {
    return this.#call(
      'reserveIds',
      context,
      () => keys.map(namedOf),
      () => this.#database.reserveIds(context, keys),
    )
  }

  #call<T>(
    method: DataMethod,
    context: RequestContext,
    named: () => readonly Named[],
    call: () => MaybePromise<T>,
    aborted?: () => void,
  ): MaybePromise<T> {
    const { faults, projectId, databaseId } = this.#parts
    const facts: CallFacts = { method, projectId, databaseId, named }
    if (context instanceof Call) context.facts = facts
    if (faults?.any !== true) return call()
    const { latencyMs, error } = faults.judge(facts)
    const go = (): MaybePromise<T> => {
      if (error === undefined) return call()
      if (error.code === 'ABORTED') aborted?.()
      throw error
    }
    if (latencyMs === 0) return go()
    return slept(context, latencyMs).then(go)
  }

  #end(context: RequestContext, transaction: Uint8Array): void {
    try {
      const ended = this.#database.rollback(context, transaction)
      if (ended instanceof Promise) ended.catch(() => {})
    } catch {
      // A transaction that is over already, or none: the fault is the answer in any case.
    }
  }
}

/** @throws CANCELLED, DEADLINE_EXCEEDED when the caller no longer waits */
async function slept(context: RequestContext, ms: number): Promise<void> {
  try {
    await context.clock.sleep(ms, context.signal)
  } catch {
    throw new DatastoreError('CANCELLED', 'the call was cancelled by the client')
  }
  checkAlive(context)
}

const nothing = (): readonly Named[] => []

function namedBy({ query }: Parameters<'runQuery'>[1] | Parameters<'runAggregationQuery'>[1]): () => readonly Named[] {
  return () => [{ namespaceId: query.partition.namespaceId, kind: query.kind }]
}

/** An entity's key, which is its field 1. What has none, or does not decode, is for the engine to refuse. */
function keyOfEntity(entity: Uint8Array, scope: { readonly projectId: string; readonly databaseId: string }): Key {
  const none: Key = { partition: { ...scope, namespaceId: '' }, path: [] }
  try {
    const reader = protobuf.Reader.create(entity)
    while (reader.pos < reader.len) {
      const tag = reader.uint32()
      if (tag >>> 3 === 1) return decodeKey(reader.bytes(), scope)
      reader.skipType(tag & 7)
    }
    return none
  } catch {
    return none
  }
}
