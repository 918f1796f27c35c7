/** All RPCs of the data API over one engine. */
import { andThen } from '@sixtables/engine'
import { type Handler, type Handlers, messageOf } from '../call.ts'
import type { EnginePort } from '../engine-port.ts'
import { allocateIdsHandler } from './allocate-ids.ts'
import { beginTransactionHandler } from './begin-transaction.ts'
import { commitHandler } from './commit.ts'
import { lookupHandler } from './lookup.ts'
import { reserveIdsHandler } from './reserve-ids.ts'
import { rollbackHandler } from './rollback.ts'
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

/** Handlers that add the messages of a call to its trace, for all protocols. */
export function tracedHandlers(handlers: Handlers): Handlers {
  const traced = Object.entries(handlers).map(([name, handler]) => [name, tracedHandler(handler)])
  return Object.fromEntries(traced) as Handlers
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
