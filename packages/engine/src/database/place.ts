/** Where the rows of an engine are: in a store of this process alone, with a log of its own, or in one that several processes share. */

import type { SharedModules } from '../engine/open-kv.ts'
import type { CommitLog } from '../log/commit-log.ts'
import type { CommitVersions } from '../log/commit-version.ts'
import type { OnDemandRows } from '../on-demand/on-demand-rows.ts'
import type { SharedDatabases } from '../shared/shared-databases.ts'
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

export type Place =
  | { readonly local: LocalParts; readonly shared?: undefined }
  | { readonly local?: undefined; readonly shared: SharedDatabases; readonly modules: SharedModules }
