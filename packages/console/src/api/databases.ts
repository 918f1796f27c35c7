/** The databases of the server. */
import type { DatabasesReport } from '@sixtables/gateway/browser'
import type { DatabaseName } from '../model/scope.ts'
import { type CallOptions, getJson } from './http.ts'

export const databasesPath = '/emulator/inspect/databases'

/** All of them, page by page. */
export async function readDatabases(path: string, options?: CallOptions): Promise<readonly DatabaseName[]> {
  const databases: DatabaseName[] = []
  for (let query = ''; ; ) {
    const page = await getJson<DatabasesReport>(`${path}${query}`, options)
    databases.push(...page.databases)
    if (page.next === undefined) return databases
    query = `?${new URLSearchParams({ after: page.next })}`
  }
}
