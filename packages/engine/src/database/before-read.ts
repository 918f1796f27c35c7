/** The work before a read outside of transactions, which must see earlier commits. */
import type { LogDatabase } from '../log/commit-input.ts'
import type { CommitLog } from '../log/commit-log.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { ReadScope } from '../transactions/read-views.ts'
import type { ReadConsistency } from './api.ts'

/**
 * The groups of which the read must see every commit. A strong read of groups: these groups. A global query: all groups under an
 * immediate policy or if the caller asks for it; else none.
 *
 * @returns no group for an eventual read; the policy may have applied something before
 */
export function beforeRead(
  log: CommitLog,
  database: LogDatabase,
  scope: ReadScope,
  consistency: ReadConsistency | undefined,
): MaybePromise<ReadScope> {
  if (!log.applier.servesReads) return nothing
  const immediate = database.applyPolicy.type === 'immediate' && !log.pending.hasHeldIn(database.code)
  const strong = immediate || consistency === 'strong' || (scope !== 'global' && consistency !== 'eventual')
  return strong ? scope : andThen(log.groom(database), () => nothing)
}

const nothing: ReadScope = []
