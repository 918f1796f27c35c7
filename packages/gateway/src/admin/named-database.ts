/** The database that a request of the admin side names. */
import { type Database, type Engine, validateDatabase } from '@sixtables/engine'
import { databaseIdOf } from '../convert/parameters.ts'

/** Parameters of a path or a query, or members of a body; `(default)`, an empty name and none are the default database. */
export interface DatabaseNames {
  readonly project?: unknown
  readonly database?: unknown
}

/** @throws INVALID_ARGUMENT for names that none can have */
export function namedDatabase(engine: Pick<Engine, 'database'>, { project, database }: DatabaseNames): Database {
  const place = { projectId: String(project ?? ''), databaseId: databaseIdOf(String(database ?? '')) }
  validateDatabase(place)
  return engine.database(place.projectId, place.databaseId)
}
