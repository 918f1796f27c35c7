/** The parts that the databases of one engine share: store, log and what is built on them. */
import type { IdAllocator } from '../ids/allocator.ts'
import type { CommitVersions } from '../log/commit-version.ts'
import type { RowKv } from '../storage/kv.ts'
import type { TableView } from '../tables/table.ts'
import type { CallNotes } from './call-notes.ts'
import type { LocalParts } from './local-parts.ts'
import type { QueryIndexes } from './query-indexes.ts'
import type { Reading, ReadingDatabase } from './reading.ts'
import type { DatabaseSettings } from './settings.ts'
import type { Settlement } from './settled.ts'
import type { TransactionVerbs } from './transaction-verbs.ts'

/** The parts that a database shares with all others of its engine. */
export interface DatabaseParts {
  readonly kv: RowKv
  /** Log and commits of this process; absent where others write the store as well. */
  readonly local: LocalParts | undefined
  readonly versions: Pick<CommitVersions, 'readTime'>
  readonly view: TableView
  readonly ids: IdAllocator
  readonly transactions: TransactionVerbs
  /** How a database is read. */
  reading(database: ReadingDatabase): Reading
  readonly queryIndexes: QueryIndexes
  readonly notes: CallNotes
  /** Age at which statistics are taken anew; 0 = at each query of them. */
  readonly statisticsEveryMs: number
  /** @throws FAILED_PRECONDITION for settings that the store cannot have */
  checkSettings(changed: Partial<DatabaseSettings>): void
  /** Told of the begin and the end of each request. */
  readonly settlement: Settlement
}
