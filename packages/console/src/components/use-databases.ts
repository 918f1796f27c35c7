/** The databases that the server knows, kept up to date. */

import { databasesPath, readDatabases } from '../api/databases.ts'
import type { DatabaseName } from '../model/scope.ts'
import { useLoaded } from './use-server.ts'

const askEveryMs = 2000

export function useDatabases(): readonly DatabaseName[] {
  return useLoaded(databasesPath, { everyMs: askEveryMs, read: readDatabases }).value ?? []
}
