/** The parts of a store of one process, which has its own log. */
import type { CommitLog } from '../log/commit-log.ts'
import type { CommitVersions } from '../log/commit-version.ts'
import type { OnDemandRows } from '../on-demand/on-demand-rows.ts'
import type { Kv } from '../storage/kv.ts'
import type { RecentCommits } from '../transactions/recent-commits.ts'
import type { Transactions } from '../transactions/transactions.ts'

export interface LocalParts {
  readonly kv: Kv
  /** The same store, if it makes rows at their first read. */
  readonly onDemand: OnDemandRows | undefined
  readonly versions: CommitVersions
  readonly log: CommitLog
  readonly recent: RecentCommits
  readonly transactions: Transactions
}
