/** The parts shared by all databases of one engine: the store, the log, and the parts on top of them. */
import type { RequestContext } from '../context.ts'
import type { IdAllocator } from '../ids/allocator.ts'
import type { CommitLog } from '../log/commit-log.ts'
import type { CommitVersions } from '../log/commit-version.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { OnDemandRows } from '../on-demand/on-demand-rows.ts'
import type { Kv, RowKv } from '../storage/kv.ts'
import type { TableView } from '../tables/table.ts'
import type { RecentCommits } from '../transactions/recent-commits.ts'
import type { Transactions } from '../transactions/transactions.ts'
import type { QueryIndexes } from './query-indexes.ts'
import type { DatabaseSettings } from './settings.ts'
import type { Reading, StoreCommits, TransactionVerbs } from './store-verbs.ts'

export interface LocalParts {
  readonly kv: Kv
  /** The same store, if it makes rows at their first read. */
  readonly onDemand: OnDemandRows | undefined
  readonly versions: CommitVersions
  readonly log: CommitLog
  readonly recent: RecentCommits
  readonly transactions: Transactions
}

/** Told once at the end of each call, with its ledger of rows and its fact, whatever its outcome. */
export interface CallObserver {
  /** Called before the first row is read: the observer may meter the rows of this call, in its ledger. */
  begin(context: RequestContext): void
  /** Called once; a promise delays the answer, an error replaces it. */
  ended(context: RequestContext): MaybePromise<void>
}

export interface DatabaseParts {
  readonly kv: RowKv
  /** Log and commits of this process; absent if other processes write the store too. */
  readonly local: LocalParts | undefined
  readonly versions: Pick<CommitVersions, 'readTime'>
  readonly view: TableView
  readonly ids: IdAllocator
  readonly transactions: TransactionVerbs
  /** `commitHere` (commit.ts), or the commit of a store that several processes share. */
  readonly commits: StoreCommits
  readonly reading: Reading
  readonly queryIndexes: QueryIndexes
  /** Maximum age of statistics; 0 = computed for each query. */
  readonly statisticsEveryMs: number
  /** @throws FAILED_PRECONDITION for settings that the store does not support */
  checkSettings(changed: Partial<DatabaseSettings>): void
  readonly observer: CallObserver
}
