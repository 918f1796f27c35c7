/** Engines for tests of the protocols: each verb fails unless the test says what it does. */

import { type RequestContext, requestContext, systemScheduler, unimplemented } from '@sixtables/engine'
import type { DatabasePort, EnginePort } from '../../src/engine-port.ts'

export interface Double extends EnginePort {
  /** Scopes that reset() was called with. */
  readonly resets: unknown[]
}

export function engineDouble(verbs: Partial<DatabasePort> = {}): Double {
  const missing = () => {
    throw unimplemented('not part of this test')
  }
  const database: DatabasePort = {
    lookup: missing,
    runQuery: missing,
    explainQuery: missing,
    runAggregationQuery: missing,
    explainAggregationQuery: missing,
    beginTransaction: missing,
    rollback: missing,
    commit: missing,
    allocateIds: missing,
    reserveIds: missing,
    ...verbs,
  }
  const resets: unknown[] = []
  return {
    resets,
    database: () => database,
    context: (): RequestContext => requestContext({ clock: systemScheduler }),
    async reset(scope) {
      resets.push(scope)
    },
  }
}
