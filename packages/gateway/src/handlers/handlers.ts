/** All RPCs of the data API over one engine. */
import type { Handlers } from '../call.ts'
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
