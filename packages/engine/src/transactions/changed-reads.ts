/**
 * The check of an optimistic transaction: did a later commit change a row that it has read, or with entity groups any row of a
 * group that it has read? A pessimistic transaction has locks instead.
 */
import { prettyRowKey } from '../encoding/pretty.ts'
import { contention } from '../errors.ts'
import { deletedSince, isInAny } from '../history/deleted-ranges.ts'
import { entityRowOf } from '../tables/entities.ts'
import type { GroupCode } from '../tables/log-rows.ts'
import type { RecentCommit, RecentCommits } from './recent-commits.ts'
import { decodeToken, type Transaction } from './transaction.ts'
import { everyGroup, type TransactionViews } from './transaction-views.ts'

/** @param aside - groups whose changes do not matter yet. @throws ABORTED if something that was read has changed */
export function refuseChanged(
  recent: RecentCommits,
  views: TransactionViews,
  transaction: Transaction,
  aside: readonly GroupCode[] = [],
): void {
  if (transaction.mode === 'pessimistic') return
  for (const [
    group,
    {
      parts: { mark },
    },
  ] of views.taken(transaction)) {
    if (group === everyGroup) refuseChangedRow(recent, mark, transaction)
    else if (!aside.includes(group)) refuseChangedGroup(recent, mark, transaction, group)
  }
}

function refuseChangedRow(recent: RecentCommits, mark: number, transaction: Transaction): void {
  const commit = recent.changeSince(mark, transaction.reads)
  const row = commit && transaction.reads.hitBy(commit.footprint)
  if (commit === undefined || row === undefined) return
  if (commit.footprint.ranges !== undefined) throw deletedSince()
  transaction.abortedBy = [writerOf(commit)]
  throw contention(`${prettyRowKey(row)} was changed by another commit after it was read; try again`, 'transaction')
}

function refuseChangedGroup(recent: RecentCommits, mark: number, transaction: Transaction, group: GroupCode): void {
  const row = entityRowOf(group)
  const moves = ({ groupsRead, footprint: { groups, ranges = [] } }: RecentCommit): boolean =>
    groups.includes(group) || groupsRead.includes(group) || isInAny(ranges, row)
  const commit = recent.since(mark).find(moves)
  if (commit === undefined) return
  transaction.abortedBy = [writerOf(commit)]
  throw contention(
    `aborted due to cross-transaction contention: the entity group of ${prettyRowKey(row)} was changed by another commit after it was read; try again`,
    'transaction',
    'group',
  )
}

function writerOf({ transaction }: RecentCommit): number {
  return decodeToken(transaction) ?? 0
}
