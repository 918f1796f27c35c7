/** All RPCs of the data API over one engine. */
import { andThen, checkAlive, DatastoreError, type MaybePromise, type RequestContext } from '@sixtables/engine'
import { google } from '#gen/wire.js'
import { Call, type Handler, type Handlers, messageOf } from '../call.ts'
import { type Asked, CallFacts, type Given } from '../calls/call-facts.ts'
import type { Calls } from '../calls/calls.ts'
import type { Faults } from '../controls/faults.ts'
import { emptyAnswer, writeAnswer } from '../convert/answer-writer.ts'
import type { DatabaseName } from '../convert/parameters.ts'
import { transactionIdOf, transactionOptionsOf } from '../convert/read-options.ts'
import { decodeRequest, requestScope } from '../convert/request.ts'
import type { DatabasePort, EnginePort } from '../engine-port.ts'
import type { DataMethod, MethodName } from '../methods.ts'
import { commitHandler } from './commit.ts'
import { allocateIdsHandler, reserveIdsHandler } from './ids.ts'
import { lookupHandler } from './lookup.ts'
import { runAggregationQueryHandler } from './run-aggregation-query.ts'
import { runQueryHandler } from './run-query.ts'

export function handlersOf(engine: EnginePort): Handlers {
  return {
    Lookup: lookupHandler(engine),
    RunQuery: runQueryHandler(engine),
    RunAggregationQuery: runAggregationQueryHandler(engine),
    BeginTransaction: beginTransactionHandler(engine),
    Commit: commitHandler(engine),
    Rollback: rollbackHandler(engine),
    AllocateIds: allocateIdsHandler(engine),
    ReserveIds: reserveIdsHandler(engine),
  }
}

const { BeginTransactionRequest, RollbackRequest } = google.datastore.v1

/** BeginTransactionResponse: transaction 1. */
function beginTransactionHandler(engine: EnginePort): Handler {
  return (bytes, call) => {
    const request = decodeRequest(BeginTransactionRequest, bytes, 'BeginTransaction')
    const { projectId, databaseId } = requestScope(request, call)
    const options = request.transactionOptions === null ? undefined : transactionOptionsOf(request.transactionOptions)
    const begun = engine.database(projectId, databaseId).beginTransaction(call, options ?? { mode: 'readWrite' })
    return andThen(begun, (transaction) => writeAnswer((writer) => writer.bytes(1, transaction)))
  }
}

function rollbackHandler(engine: EnginePort): Handler {
  return (bytes, call) => {
    const request = decodeRequest(RollbackRequest, bytes, 'Rollback')
    const { projectId, databaseId } = requestScope(request, call)
    const database = engine.database(projectId, databaseId)
    return andThen(database.rollback(call, transactionIdOf(request.transaction)), emptyAnswer)
  }
}

/**
 * The handlers of all protocols. While there are observers or faults, a call goes through {@link watchedPort}, and its messages are
 * added to its trace.
 */
export function watchedHandlers(engine: EnginePort, calls: Calls, faults: Faults | undefined): Handlers {
  const watched = handlersOf(watchedPort(engine, faults))
  const all = Object.entries(handlersOf(engine)).map(([name, handler]) => {
    const traced = tracedHandler(watched[name as MethodName])
    return [
      name,
      (request: Buffer, call: Call) =>
        calls.any || faults?.any === true ? traced(request, call) : handler(request, call),
    ]
  })
  return Object.fromEntries(all) as Handlers
}

function tracedHandler(handler: Handler): Handler {
  return (request, call) => {
    const { trace } = call
    if (trace?.keepsMessages !== true) return handler(request, call)
    trace.request = request
    return andThen(handler(request, call), (answer) => {
      trace.answer = messageOf(answer)
      return answer
    })
  }
}

/** An engine in front of the real one: it notes the facts of calls for observers, and applies the faults of a test first. */
function watchedPort(engine: EnginePort, faults: Faults | undefined): EnginePort {
  const watched = new WeakMap<DatabasePort, DatabasePort>()
  return {
    database(projectId, databaseId) {
      const database = engine.database(projectId, databaseId)
      const port = watched.get(database) ?? watchedDatabase(database, { projectId, databaseId }, faults)
      watched.set(database, port)
      return port
    },
    context: () => engine.context(),
    reset: (scope) => engine.reset(scope),
  }
}

type Verb = keyof DatabasePort
type Arguments<V extends Verb> = Parameters<DatabasePort[V]>

type Answer<V extends Verb> = Awaited<ReturnType<DatabasePort[V]>>

interface WatchedVerb<V extends Verb> {
  readonly method: DataMethod
  asked(request: Arguments<V>[1]): Asked
  given?(answer: Answer<V>): Given
}

const verbs: { readonly [V in Verb]: WatchedVerb<V> } = {
  lookup: {
    method: 'lookup',
    asked: ({ keys, read }) => ({ keys, transaction: read?.transaction }),
    given: begun,
  },
  runQuery: { method: 'runQuery', asked: queryOf, given: begun },
  explainQuery: { method: 'runQuery', asked: queryOf, given: begun },
  runAggregationQuery: { method: 'runAggregationQuery', asked: queryOf, given: begun },
  explainAggregationQuery: { method: 'runAggregationQuery', asked: queryOf, given: begun },
  beginTransaction: { method: 'beginTransaction', asked: () => ({}), given: (transaction) => ({ transaction }) },
  commit: {
    method: 'commit',
    asked: ({ mutations, transaction }) => ({ mutations, transaction }),
    given: ({ mutationResults }) => ({ keys: mutationResults.map(({ key }) => key) }),
  },
  rollback: { method: 'rollback', asked: (transaction) => ({ transaction }) },
  allocateIds: { method: 'allocateIds', asked: (keys) => ({ keys }), given: (keys) => ({ keys }) },
  reserveIds: { method: 'reserveIds', asked: (keys) => ({ keys }) },
}

function queryOf(request: Arguments<'runQuery'>[1] | Arguments<'runAggregationQuery'>[1]): Asked {
  const { query, read } = request
  const aggregations = 'aggregations' in request ? { aggregations: request.aggregations } : {}
  return { query, ...aggregations, transaction: read?.transaction }
}

function begun({ transaction }: { readonly transaction?: Uint8Array | undefined }): Given {
  return { transaction }
}

function watchedDatabase(database: DatabasePort, name: DatabaseName, faults: Faults | undefined): DatabasePort {
  const watch = <V extends Verb>(verb: V, [context, request, options]: Arguments<V>): MaybePromise<unknown> => {
    const { method, asked, given } = verbs[verb]
    const facts = new CallFacts(method, name, asked(request))
    if (context instanceof Call) context.facts = facts
    const call = database[verb] as (...given: readonly unknown[]) => MaybePromise<Answer<V>>
    const noted = (): MaybePromise<unknown> =>
      andThen(call.call(database, context, request, options), (answer) => {
        facts.given = given?.(answer)
        return answer
      })
    // A fault neither affects a watching tool nor counts its calls.
    if (faults?.any !== true || context.isUncounted === true) return noted()
    const { latencyMs, error } = faults.judge(facts)
    const go = (): MaybePromise<unknown> => {
      if (error === undefined) return noted()
      if (error.code === 'ABORTED' && method === 'commit') end(database, context, facts.asked.transaction)
      throw error
    }
    return latencyMs === 0 ? go() : slept(context, latencyMs).then(go)
  }
  const names = Object.keys(verbs) as Verb[]
  const port = names.map((verb) => [verb, (...given: Arguments<Verb>) => watch(verb, given)])
  return Object.fromEntries(port)
}

/** Ends an aborted transaction, which releases its locks, so that a retry of the client does not wait for them. */
function end(database: DatabasePort, context: RequestContext, transaction: Uint8Array | undefined): void {
  if (transaction === undefined) return
  try {
    const ended = database.rollback(context, transaction)
    if (ended instanceof Promise) ended.catch(() => {})
  } catch {
    // The transaction may have ended already; the fault is the answer in any case.
  }
}

/** @throws CANCELLED, DEADLINE_EXCEEDED when the client no longer waits */
async function slept(context: RequestContext, ms: number): Promise<void> {
  try {
    await context.clock.sleep(ms, context.signal)
  } catch {
    throw new DatastoreError('CANCELLED', 'the call was cancelled by the client')
  }
  checkAlive(context)
}
