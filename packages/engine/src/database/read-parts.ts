/** The parts that the reading verbs of a database use. */
import type { TransactionDatabase } from '../transactions/transaction-database.ts'
import type { DatabaseParts } from './database-parts.ts'
import type { QueriedDatabase } from './query-indexes.ts'
import type { Reading } from './reading.ts'
import type { DatabaseSettings } from './settings.ts'
import type { SpecialSources } from './special-sources.ts'

export interface ReadDatabase extends TransactionDatabase, QueriedDatabase {
  readonly settings: DatabaseSettings
  readonly projectId: string
  readonly databaseId: string
}

export interface ReadParts extends Pick<DatabaseParts, 'kv' | 'local' | 'queryIndexes' | 'transactions'> {
  readonly database: ReadDatabase
  readonly reading: Reading
  readonly special: SpecialSources
}
