/** The database of an admin request. */
import { type Database, type Engine, validateDatabase } from '@sixtables/engine'
import { databaseIdOf } from '../convert/parameters.ts'

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
