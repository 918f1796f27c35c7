/** The database and the engine of an admin request. */
import { type Database, type Engine, unimplemented, validateDatabase } from '@sixtables/engine'
import { watcherHeader } from '../call.ts'
import { databaseIdOf } from '../convert/parameters.ts'
import type { RouteRequest } from '../protocols/router.ts'

/** Names from a path, a query or a body. `(default)`, an empty name and no name are the default database. */
export interface DatabaseNames {
  readonly project?: unknown
  readonly database?: unknown
}

/** @throws INVALID_ARGUMENT for impossible names */
export function namedDatabase(engine: Pick<Engine, 'database'>, names: DatabaseNames): Database {
  const { projectId, databaseId } = placeNamed(names)
  return engine.database(projectId, databaseId)
}

/** The same names as the engine's. @throws INVALID_ARGUMENT */
export function placeNamed({ project, database }: DatabaseNames): Pick<Database, 'projectId' | 'databaseId'> {
  const place = { projectId: String(project ?? ''), databaseId: databaseIdOf(String(database ?? '')) }
  validateDatabase(place)
  return place
}

export type AskedEngine = Pick<Engine, 'database' | 'context'>

/** The engine for routes. Requests of watching tools count in no list, statistics or finding. */
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
