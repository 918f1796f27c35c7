/** The engine for routes. Requests of watching tools count in no list, statistics or finding. */
import { type Engine, unimplemented } from '@sixtables/engine'
import { watcherHeader } from '../../call.ts'
import type { RouteRequest } from '../../protocols/router.ts'

export type AskedEngine = Pick<Engine, 'database' | 'context'>

export function askedBy({ headers }: Pick<RouteRequest, 'headers'>, engine: Engine): AskedEngine {
  if (headers[watcherHeader] !== '1') return engine
  return {
    database: (projectId, databaseId) => engine.database(projectId, databaseId),
    context: (options) => engine.context({ ...options, isUncounted: true }),
  }
}

/** One gateway of a shared store can hold or move nothing for the others. @param why - a clause for the message. @throws UNIMPLEMENTED */
export function needOneProcess({ hasOtherWriters }: Pick<Engine, 'hasOtherWriters'>, why: string): void {
  if (hasOtherWriters)
    throw unimplemented(`a store that several gateways share ${why}. Use a store of one process for this.`)
}
