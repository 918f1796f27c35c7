/** A database as its transactions see it. */
import type { LogDatabase } from '../log/log-database.ts'
import type { ConcurrencyMode } from './transaction.ts'

export interface TransactionSettings {
  readonly concurrency: ConcurrencyMode
  /** How long a writer waits for the lock of a reader. */
  readonly lockTimeoutMs: number
  /** Maximum number of entity groups of a transaction; `undefined` = any number. */
  readonly entityGroupsMax: number | undefined
}

export interface TransactionDatabase extends LogDatabase {
  readonly settings: LogDatabase['settings'] & TransactionSettings
}
