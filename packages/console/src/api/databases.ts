/** The databases of the server. */
import { type CallOptions, getJson } from './http.ts'

/** An empty `database` is the default one. */
export interface DatabaseName {
  readonly project: string
  readonly database: string
}

export const databasesPath = '/emulator/inspect/databases'

/** Answer of {@link databasesPath}; more follow after `next`. */
interface DatabaseList {
  readonly databases: readonly DatabaseName[]
  readonly next?: string
}

/** All of them, page by page. */
export async function readDatabases(path: string, options?: CallOptions): Promise<readonly DatabaseName[]> {
  const databases: DatabaseName[] = []
  for (let query = ''; ; ) {
    const page = await getJson<DatabaseList>(`${path}${query}`, options)
    databases.push(...page.databases)
    if (page.next === undefined) return databases
    query = `?${new URLSearchParams({ after: page.next })}`
  }
}
