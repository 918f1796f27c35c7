/** All RPCs of the data API over one engine. */
import { andThen } from '@sixtables/engine'
import { type Call, type Handler, type Handlers, messageOf } from '../call.ts'
import type { Calls } from '../calls/calls.ts'
import type { Faults } from '../controls/faults.ts'
import { watchedPort } from '../controls/watched-port.ts'
import type { EnginePort } from '../engine-port.ts'
import type { MethodName } from '../methods.ts'
import { commitHandler } from './commit.ts'
import { allocateIdsHandler, reserveIdsHandler } from './ids.ts'
import { lookupHandler } from './lookup.ts'
import { runAggregationQueryHandler } from './run-aggregation-query.ts'
import { runQueryHandler } from './run-query.ts'
import { beginTransactionHandler, rollbackHandler } from './transactions.ts'

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
