/** What is applied before a read outside of transactions (D1 of database.ts). */
import type { LogDatabase } from '../log/commit-input.ts'
import type { CommitLog } from '../log/commit-log.ts'
import { forEachInOrder, type MaybePromise } from '../maybe-promise.ts'
import type { ReadScope } from '../transactions/moments.ts'
import type { ReadConsistency } from './api.ts'

/**
 * Rolls the read's groups forward, unless it asks for eventual reads; for a global query everything, if applying is immediate
 * or the caller insists. Any other policy makes it eventual.
 */
export function beforeRead(
  log: CommitLog,
  database: LogDatabase,
  scope: ReadScope,
  consistency: ReadConsistency | undefined,
): MaybePromise<void> {
  const immediate = database.applyPolicy.type === 'immediate' && !log.pending.hasHeldIn(database.code)
  if (scope === 'global') {
    const strong = immediate || consistency === 'strong'
    return strong ? log.applier.rollForwardDatabase(database.code, 'strong read') : log.groom(database)
  }
  if (consistency === 'eventual' && !immediate) return log.groom(database)
  return forEachInOrder(scope, (group) => log.applier.rollForward(group, 'strong read'))
}
