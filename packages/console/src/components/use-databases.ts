/** The databases that the server knows, kept up to date. */
import { type DatabaseName, databasesPath, readDatabases } from '../api/databases.ts'
import { useLoaded } from './use-loaded.ts'

const askEveryMs = 2000

export function useDatabases(): readonly DatabaseName[] {
  return useLoaded(databasesPath, { everyMs: askEveryMs, read: readDatabases }).value ?? []
}
