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

type Parameters<M extends keyof DatabasePort> = globalThis.Parameters<DatabasePort[M]>

/** @param engine - while there are neither observers nor faults, its databases are returned themselves */
export function watchedPort(engine: EnginePort, calls: Calls, faults?: Faults): EnginePort {
  return {
    database(projectId, databaseId) {
      const database = engine.database(projectId, databaseId)
      if (!calls.any && faults?.any !== true) return database
      return new WatchedDatabase({ database, faults, name: { projectId, databaseId } })
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

class WatchedDatabase implements DatabasePort {
  readonly #database: DatabasePort
  readonly #parts: WatchedParts

  constructor(parts: WatchedParts) {
    this.#database = parts.database
    this.#parts = parts
  }

  lookup(...[context, request]: Parameters<'lookup'>): ReturnType<DatabasePort['lookup']> {
    const facts = this.#facts('lookup', { keys: request.keys, transaction: request.read?.transaction })
    return this.#call(facts, context, { call: () => this.#database.lookup(context, request), given: begun })
  }

  runQuery(...[context, request]: Parameters<'runQuery'>): ReturnType<DatabasePort['runQuery']> {
    const facts = this.#facts('runQuery', queryOf(request))
    return this.#call(facts, context, { call: () => this.#database.runQuery(context, request), given: begun })
  }

  explainQuery(...[context, request, options]: Parameters<'explainQuery'>): ReturnType<DatabasePort['explainQuery']> {
    const call = (): ReturnType<DatabasePort['explainQuery']> => this.#database.explainQuery(context, request, options)
    return this.#call(this.#facts('runQuery', queryOf(request)), context, { call, given: begun })
  }

  runAggregationQuery(
    ...[context, request]: Parameters<'runAggregationQuery'>
  ): ReturnType<DatabasePort['runAggregationQuery']> {
    const call = (): ReturnType<DatabasePort['runAggregationQuery']> =>
      this.#database.runAggregationQuery(context, request)
    return this.#call(this.#facts('runAggregationQuery', queryOf(request)), context, { call, given: begun })
  }

  explainAggregationQuery(
    ...[context, request, options]: Parameters<'explainAggregationQuery'>
  ): ReturnType<DatabasePort['explainAggregationQuery']> {
    const call = (): ReturnType<DatabasePort['explainAggregationQuery']> =>
      this.#database.explainAggregationQuery(context, request, options)
    return this.#call(this.#facts('runAggregationQuery', queryOf(request)), context, { call, given: begun })
  }

  beginTransaction(
    ...[context, options]: Parameters<'beginTransaction'>
  ): ReturnType<DatabasePort['beginTransaction']> {
    return this.#call(this.#facts('beginTransaction', {}), context, {
      call: () => this.#database.beginTransaction(context, options),
      given: (transaction) => ({ transaction }),
    })
  }

  commit(...[context, request]: Parameters<'commit'>): ReturnType<DatabasePort['commit']> {
    const { transaction, mutations } = request
    return this.#call(this.#facts('commit', { mutations, transaction }), context, {
      call: () => this.#database.commit(context, request),
      given: ({ mutationResults }) => ({ keys: mutationResults.map(({ key }) => key) }),
      // An aborted transaction has ended and released its locks, so that a retry of the client does not wait for them.
      aborted: transaction === undefined ? undefined : () => this.#end(context, transaction),
    })
  }

  rollback(...[context, transaction]: Parameters<'rollback'>): ReturnType<DatabasePort['rollback']> {
    const facts = this.#facts('rollback', { transaction })
    return this.#call(facts, context, { call: () => this.#database.rollback(context, transaction) })
  }

  allocateIds(...[context, keys]: Parameters<'allocateIds'>): ReturnType<DatabasePort['allocateIds']> {
    return this.#call(this.#facts('allocateIds', { keys }), context, {
      call: () => this.#database.allocateIds(context, keys),
      given: (allocated) => ({ keys: allocated }),
    })
  }

  reserveIds(...[context, keys]: Parameters<'reserveIds'>): ReturnType<DatabasePort['reserveIds']> {
    const facts = this.#facts('reserveIds', { keys })
    return this.#call(facts, context, { call: () => this.#database.reserveIds(context, keys) })
  }

  #facts(method: CallFacts['method'], asked: CallFacts['asked']): CallFacts {
    return new CallFacts(method, this.#parts.name, asked)
  }

  #call<T>(facts: CallFacts, context: RequestContext, { call, given, aborted }: Work<T>): MaybePromise<T> {
    const { faults } = this.#parts
    if (context instanceof Call) context.facts = facts
    // A fault neither affects a watching tool nor counts its calls.
    const isFaulty = faults?.any === true && context.isUncounted !== true
    const noted = (): MaybePromise<T> =>
      andThen(call(), (answer) => {
        facts.given = given?.(answer)
        return answer
      })
    if (!isFaulty) return noted()
    const { latencyMs, error } = faults.judge(facts)
    const go = (): MaybePromise<T> => {
      if (error === undefined) return noted()
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
      // The transaction may have ended already; the fault is the answer in any case.
    }
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

function queryOf(request: Parameters<'runQuery'>[1] | Parameters<'runAggregationQuery'>[1]): CallFacts['asked'] {
  const { query, read } = request
  const aggregations = 'aggregations' in request ? { aggregations: request.aggregations } : {}
  return { query, ...aggregations, transaction: read?.transaction }
}
