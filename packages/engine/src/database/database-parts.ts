/** The parts shared by all databases of one engine: the store, the log, and the parts on top of them. */
import type { RequestContext } from '../context.ts'
import type { IdAllocator } from '../ids/allocator.ts'
import type { CommitVersions } from '../log/commit-version.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { RowKv } from '../storage/kv.ts'
import type { TableView } from '../tables/table.ts'
import type { LocalParts } from './local-parts.ts'
import type { QueryIndexes } from './query-indexes.ts'
import type { Reading } from './reading.ts'
import type { DatabaseSettings } from './settings.ts'
import type { StoreCommits, TransactionVerbs } from './transaction-verbs.ts'

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
