/**
 * Reset of a store that several processes share: of each database at one moment (closed-databases.ts). Composite indexes stay defined, and a
 * database keeps its index rules.
 *
 * Counters of ids are not reset: a gateway completes the keys of a commit before its stamp, so an id that was allocated before the reset may belong
 * to an entity that is put after it.                                                          test/property/gateways.test.ts
 */
import { entityTables, type ResetScope } from '@sixtables/engine'
import { isOf, rangesOf, refuseHalfScope, rowsOf, scopeCode } from '@sixtables/engine/store'
import type { SharedDatabases } from './shared-databases.ts'

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
  }
}
