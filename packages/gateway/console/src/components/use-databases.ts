/** The databases that the server knows, kept up to date. */
import { type DatabaseList, type DatabaseName, databasesPath } from '../api/databases.ts'
import { useLoaded } from './use-loaded.ts'

const askEveryMs = 2000

export function useDatabases(): readonly DatabaseName[] {
  return useLoaded<DatabaseList>(databasesPath, { everyMs: askEveryMs }).value?.databases ?? []
}
