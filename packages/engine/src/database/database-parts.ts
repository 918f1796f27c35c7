/** The parts shared by all databases of one engine: the store, the log, and the parts on top of them. */
import type { IdAllocator } from '../ids/allocator.ts'
import type { CommitVersions } from '../log/commit-version.ts'
import type { RowKv } from '../storage/kv.ts'
import type { TableView } from '../tables/table.ts'
import type { CallObserver } from './call-observer.ts'
import type { LocalParts } from './local-parts.ts'
import type { QueryIndexes } from './query-indexes.ts'
import type { Reading, ReadingDatabase } from './reading.ts'
import type { DatabaseSettings } from './settings.ts'
import type { StoreCommits, TransactionVerbs } from './transaction-verbs.ts'

export interface DatabaseParts {
  readonly kv: RowKv
  /** Log and commits of this process; absent if other processes write the store too. */
  readonly local: LocalParts | undefined
  readonly versions: Pick<CommitVersions, 'readTime'>
  readonly view: TableView
  readonly ids: IdAllocator
  readonly transactions: TransactionVerbs
  readonly commits: StoreCommits
  /** The way to read a database. */
  reading(database: ReadingDatabase): Reading
  readonly queryIndexes: QueryIndexes
  /** Maximum age of statistics; 0 = computed for each query. */
  readonly statisticsEveryMs: number
  /** @throws FAILED_PRECONDITION for settings that the store does not support */
  checkSettings(changed: Partial<DatabaseSettings>): void
  readonly observer: CallObserver
}
