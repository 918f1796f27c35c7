/** The work before a read outside of transactions, so that it sees the commits it must. */
import type { LogDatabase } from '../log/commit-input.ts'
import type { CommitLog } from '../log/commit-log.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { ReadScope } from '../transactions/read-views.ts'
import type { ReadConsistency } from './api.ts'

/**
 * The scope of which the read must see every commit: all of its groups, unless it asks for an eventual read; for a global query
 * everything, if applying is immediate or the caller insists. Any other policy makes it eventual.
 *
 * @returns no group at all for an eventual read, before which the policy has had its chance to apply something
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
