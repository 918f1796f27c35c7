/**
 * Reset of a store that several processes share: of each database at one moment (shared/closed-databases.ts). Counters of ids begin anew;
 * composite indexes stay defined, and the rules of a database stay those that it was created with.
 */
import { entityTables } from '../row.ts'
import type { SharedDatabases } from '../shared/shared-databases.ts'
import { isOf, rowsOf } from '../tables/rows.ts'
import { type ResetScope, rangesOf, refuseHalfScope, scopeCode } from './reset.ts'

export async function resetShared(databases: SharedDatabases, scope: ResetScope): Promise<void> {
  refuseHalfScope(scope)
  await databases.find()
  const prefix = scopeCode(scope)
  const { kv } = databases.store
  for (const database of databases.all()) {
    const { database: code } = database.clock
    if (!code.startsWith(prefix)) continue
    const ranges =
      scope.namespaceId === undefined
        ? entityTables.map((space) => rowsOf(space, code))
        : (await rangesOf(kv, scope)).filter(({ start }) => entityTables.some((space) => isOf(space, start)))
    await databases.closed.delete(database, ranges)
    if (scope.namespaceId === undefined) await kv.deleteRows(rowsOf('IdSequences', code))
  }
  // The counter of store-wide ids is of no database.
  if (scope.projectId === undefined) await kv.deleteRows(rowsOf('IdSequences'))
}
