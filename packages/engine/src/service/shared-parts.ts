/** What the databases of one engine share: its store, its log and what stands on them. */
import type { RequestContext } from '../context.ts'
import type { Findings } from '../findings/findings.ts'
import type { IdAllocator } from '../ids/allocator.ts'
import type { CommitLog } from '../log/commit-log.ts'
import type { CommitVersions } from '../log/commit-version.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { Kv } from '../storage/kv.ts'
import type { TableView } from '../tables/table.ts'
import type { Transactions } from '../transactions/transactions.ts'
import type { QueryIndexes } from './query-indexes.ts'

/** What a database shares with all others of its engine. */
export interface SharedParts {
  readonly kv: Kv
  readonly log: CommitLog
  readonly versions: CommitVersions
  readonly view: TableView
  readonly ids: IdAllocator
  readonly transactions: Transactions
  readonly queryIndexes: QueryIndexes
  readonly findings: Findings
  /** Called once for each request, with the rows it touched; a promise is a delay. */
  settle(context: RequestContext): MaybePromise<void>
}
