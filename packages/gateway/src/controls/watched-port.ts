/**
 * An engine in front of the real one: it notes the facts of calls for observers, and applies the faults of a test first. Handlers of
 * all protocols use it.
 */
import { andThen, checkAlive, DatastoreError, type MaybePromise, type RequestContext } from '@sixtables/engine'
import { Call } from '../call.ts'
import { CallFacts, type DatabaseName, type Given } from '../calls/call-facts.ts'
import type { Calls } from '../calls/calls.ts'
import type { DatabasePort, EnginePort } from '../engine-port.ts'
import type { Faults } from './faults.ts'

/** @param engine - while there are neither observers nor faults, its databases are returned themselves */
export function watchedPort(engine: EnginePort, calls: Calls, faults?: Faults): EnginePort {
  return {
    database(projectId, databaseId) {
      const database = engine.database(projectId, databaseId)
      if (!calls.any && faults?.any !== true) return database
      return watchedDatabase({ database, faults, name: { projectId, databaseId } })
    },
    context: () => engine.context(),
    reset: (scope) => engine.reset(scope),
  }
}

interface WatchedParts {
  readonly database: DatabasePort
  readonly faults: Faults | undefined
  readonly name: DatabaseName
}

/** A call of the engine, and the facts to note of its answer. */
interface Work<T> {
  call(): MaybePromise<T>
  given?(answer: NoInfer<T>): Given
  /** Called when a fault aborts the call. */
  readonly aborted?: (() => void) | undefined
}

function watchedDatabase({ database, faults, name }: WatchedParts): DatabasePort {
  const watched = <T>(
    context: RequestContext,
    method: CallFacts['method'],
    asked: CallFacts['asked'],
    { call, given, aborted }: Work<T>,
  ): MaybePromise<T> => {
    const facts = new CallFacts(method, name, asked)
    if (context instanceof Call) context.facts = facts
    const noted = (): MaybePromise<T> =>
      andThen(call(), (answer) => {
        facts.given = given?.(answer)
        return answer
      })
    // A fault neither affects a watching tool nor counts its calls.
    if (faults?.any !== true || context.isUncounted === true) return noted()
    const { latencyMs, error } = faults.judge(facts)
    const go = (): MaybePromise<T> => {
      if (error === undefined) return noted()
      if (error.code === 'ABORTED') aborted?.()
      throw error
    }
    if (latencyMs === 0) return go()
    return slept(context, latencyMs).then(go)
  }
  const end = (context: RequestContext, transaction: Uint8Array): void => {
    try {
      const ended = database.rollback(context, transaction)
      if (ended instanceof Promise) ended.catch(() => {})
    } catch {
      // The transaction may have ended already; the fault is the answer in any case.
    }
  }
  return {
    lookup: (context, request) =>
      watched(
        context,
        'lookup',
        { keys: request.keys, transaction: request.read?.transaction },
        { call: () => database.lookup(context, request), given: begun },
      ),
    runQuery: (context, request) =>
      watched(context, 'runQuery', queryOf(request), { call: () => database.runQuery(context, request), given: begun }),
    explainQuery: (context, request, options) =>
      watched(context, 'runQuery', queryOf(request), {
        call: () => database.explainQuery(context, request, options),
        given: begun,
      }),
    runAggregationQuery: (context, request) =>
      watched(context, 'runAggregationQuery', queryOf(request), {
        call: () => database.runAggregationQuery(context, request),
        given: begun,
      }),
    explainAggregationQuery: (context, request, options) =>
      watched(context, 'runAggregationQuery', queryOf(request), {
        call: () => database.explainAggregationQuery(context, request, options),
        given: begun,
      }),
    beginTransaction: (context, options) =>
      watched(
        context,
        'beginTransaction',
        {},
        {
          call: () => database.beginTransaction(context, options),
          given: (transaction) => ({ transaction }),
        },
      ),
    commit: (context, request) => {
      const { transaction, mutations } = request
      return watched(
        context,
        'commit',
        { mutations, transaction },
        {
          call: () => database.commit(context, request),
          given: ({ mutationResults }) => ({ keys: mutationResults.map(({ key }) => key) }),
          // An aborted transaction has ended and released its locks, so that a retry of the client does not wait for them.
          aborted: transaction === undefined ? undefined : () => end(context, transaction),
        },
      )
    },
    rollback: (context, transaction) =>
      watched(context, 'rollback', { transaction }, { call: () => database.rollback(context, transaction) }),
    allocateIds: (context, keys) =>
      watched(
        context,
        'allocateIds',
        { keys },
        {
          call: () => database.allocateIds(context, keys),
          given: (allocated) => ({ keys: allocated }),
        },
      ),
    reserveIds: (context, keys) =>
      watched(context, 'reserveIds', { keys }, { call: () => database.reserveIds(context, keys) }),
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

/** The transaction that a read began, if any. */
function begun({ transaction }: { readonly transaction?: Uint8Array }): Given {
  return { transaction }
}

function queryOf(
  request: Parameters<DatabasePort['runQuery']>[1] | Parameters<DatabasePort['runAggregationQuery']>[1],
): CallFacts['asked'] {
  const { query, read } = request
  const aggregations = 'aggregations' in request ? { aggregations: request.aggregations } : {}
  return { query, ...aggregations, transaction: read?.transaction }
}
