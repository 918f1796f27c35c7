/** The parts that the verbs of a database use: those of all databases, and its own. */
import type { MaybePromise } from '../maybe-promise.ts'
import type { TransactionDatabase } from '../transactions/transaction.ts'
import type { DatabaseParts } from './database-parts.ts'
import type { CheckedDatabase } from './prepare-commit.ts'
import type { QueriedDatabase } from './query-indexes.ts'
import type { SpecialSources } from './special-sources.ts'

export interface VerbParts extends DatabaseParts {
  readonly database: TransactionDatabase & QueriedDatabase & CheckedDatabase
  readonly special: SpecialSources
  /** Writes the row of the database with its index rules before its first commit. */
  keepIndexRules(): MaybePromise<void>
}
