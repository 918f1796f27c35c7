/** The parts of a store of this process alone, which has a log of its own. */
import type { CommitLog } from '../log/commit-log.ts'
import type { CommitVersions } from '../log/commit-version.ts'
import type { OnDemandRows } from '../on-demand/on-demand-rows.ts'
import type { Kv } from '../storage/kv.ts'
import type { RecentCommits } from '../transactions/recent-commits.ts'
import type { Transactions } from '../transactions/transactions.ts'

export interface LocalParts {
  readonly kv: Kv
  /** The same, where it makes rows when they are first read. */
  readonly onDemand: OnDemandRows | undefined
  readonly versions: CommitVersions
  readonly log: CommitLog
  readonly recent: RecentCommits
  readonly transactions: Transactions
}
